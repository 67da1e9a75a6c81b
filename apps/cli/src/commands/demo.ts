/** `keelson demo`: a fleet of three nodes lives through a crash and a drain before the reader's eyes, and ends by itself. */
import { Command } from "commander";
import pc from "picocolors";
import { doorOf, withGateway, type DoorOptions } from "../admin/door.ts";
import { parseDurationMs } from "../config/duration.ts";
import { draw } from "../demo/picture.ts";
import { Screen } from "../demo/screen.ts";
import { play, seconds, ScriptError, type Telling } from "../demo/script.ts";
import { takeSnapshot, type DemoEvent } from "../demo/snapshot.ts";
import { Stage } from "../demo/stage.ts";
import { summarise } from "../demo/summary.ts";
import { Traffic } from "../demo/traffic.ts";
import { Demo } from "../first-run/demo.ts";
import { RunError, UsageError } from "../failure.ts";
import { Printer } from "../report/printer.ts";
import { exitCodeOf, stopSignal } from "../stop-signal.ts";

const SHARDS = 30;
const REQUESTS_PER_SECOND = 100;
const FRAME_MS = 100;

export function demoCommand(): Command {
  return new Command("demo")
    .option("--ttl <time>", "how long a killed node's session outlives it", "2s")
    .option("--plain", "line by line, as when the output is not a terminal")
    .addCommand(removeCommand())
    .action(async (options: { ttl: string; plain?: boolean }) => {
      const ttlMs = parseDurationMs(options.ttl);
      if (ttlMs === undefined || ttlMs < 500 || ttlMs > 10_000)
        throw new UsageError(`--ttl must be a length of time from 500ms to 10s, not "${options.ttl}"`);
      const live = process.stdout.isTTY && process.env["TERM"] !== "dumb" && options.plain !== true;
      process.exitCode = await run(ttlMs, live);
    });
}

/** `keelson demo remove`: the other demo, the one that the first `keelson up` puts into its fleet. */
function removeCommand(): Command {
  const command = new Command("remove").description("take away what keelson up --demo put into a fleet");
  return withGateway(command).action(async () => {
    const options = command.opts<DoorOptions>();
    const door = doorOf(options);
    const services = (await door.ask("GET", "/v1/services")) as readonly { readonly name: string }[];
    const removed = await new Demo(
      door,
      services.map(({ name }) => name),
    ).remove();
    const { repositories, schedules, jobs } = removed;
    new Printer(options.json === true).show(removed, () =>
      repositories + schedules + jobs === 0
        ? "there is no demo in this fleet"
        : `the demo is gone: ${repositories} repository, ${schedules} schedules, ${jobs} jobs`,
    );
  });
}

/** Returns the exit code. */
async function run(ttlMs: number, live: boolean): Promise<number> {
  const startedAt = performance.now();
  const stage = await Stage.open({ shards: SHARDS, ttlMs });
  // However it ends: nothing stays on the disk.
  process.once("exit", () => stage.clean());
  const traffic = new Traffic({
    client: stage.client,
    shards: stage.shards,
    perSecond: REQUESTS_PER_SECOND,
    timeoutMs: ttlMs / 2,
  });
  const events: DemoEvent[] = [];
  let act = "";
  const picture = (columns: number, rows: number): string[] =>
    draw(takeSnapshot(stage, traffic, { elapsedMs: performance.now() - startedAt, act, events }), {
      columns,
      rows,
      colors: pc,
    });
  const screen = live ? new Screen(process.stdout, () => redraw()) : undefined;
  const redraw = (): void => screen?.show(picture(screen.columns, screen.rows));
  const timer = screen && setInterval(redraw, FRAME_MS);
  const tell: Telling = {
    act: (title) => {
      act = title;
    },
    say: (text, tone = "plain") => {
      const atMs = performance.now() - startedAt;
      events.push({ atMs, text, tone });
      if (screen) redraw();
      else process.stdout.write(`${seconds(atMs).padStart(7)}  ${text}\n`);
    },
  };
  void stopSignal().then((signal) => {
    screen?.close();
    process.stdout.write(`${signal}: the demo was stopped\n`);
    // oxlint-disable-next-line unicorn/no-process-exit -- nothing here is worth waiting for.
    process.exit(exitCodeOf(signal));
  });
  try {
    const report = await play(stage, traffic, ttlMs, tell);
    act = "done";
    screen?.close();
    if (screen) process.stdout.write(`${picture(screen.columns, screen.rows).join("\n")}\n\n`);
    const { lines, kept } = summarise(report, ttlMs, pc);
    process.stdout.write(`${lines.join("\n")}\n`);
    return kept ? 0 : 1;
  } catch (error) {
    if (error instanceof ScriptError)
      throw new RunError(`the demo failed: ${error.message}`, { cause: error });
    throw error;
  } finally {
    clearInterval(timer);
    screen?.close();
    await traffic.stop();
    await stage.close();
  }
}
