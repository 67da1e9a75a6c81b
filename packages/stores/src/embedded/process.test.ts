import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ManualClock } from "@keelson/testkit";
import { afterAll, expect, test } from "vitest";
import { EmbeddedStore } from "./embedded-store.ts";

const root = mkdtempSync(join(tmpdir(), "keelson-process-"));
chmodSync(root, 0o755);
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
});

/** A process that opens the folder as `store` and runs `body`. */
function child(folder: string, body: string): ChildProcess {
  const module = JSON.stringify(join(import.meta.dirname, "embedded-store.ts"));
  const code = `
    const { EmbeddedStore } = await import(${module});
    const clock = {
      now: () => performance.now(),
      wall: () => Date.now(),
      after: (ms, run) => { const timer = setTimeout(run, ms); return { cancel: () => clearTimeout(timer) }; },
    };
    const open = () => EmbeddedStore.open({ folder: ${JSON.stringify(folder)}, clock, random: Math.random });
    ${body}`;
  const flags = ["--conditions=source", "--import", "tsx", "--input-type=module", "-e", code];
  const started = spawn(process.execPath, flags, {
    stdio: ["ignore", "pipe", "inherit"],
    cwd: import.meta.dirname,
  });
  children.push(started);
  return started;
}

test("what a process acknowledged before kill -9 is there when the next one opens the folder", async () => {
  const folder = join(root, "killed");
  const running = child(
    folder,
    `
    const store = await open();
    const call = { timeoutMs: 5000 };
    const { session, incarnation } = await store.openSession(60000, call);
    console.log(session, incarnation);
    const writer = async (name) => {
      for (let n = 1; ; n += 1) {
        const writes = [{ kind: "put", key: "/" + name, value: String(n), session }];
        const { revision } = await store.commit({ guards: [], writes }, { ...call, incarnation });
        console.log(name, n, revision);
      }
    };
    await Promise.all(["a", "b", "c"].map(writer));`,
  );
  const exited = once(running, "exit");
  const acknowledged = new Map<string, { value: number; revision: number }>();
  let first: string[] | undefined;
  let lines = 0;
  for await (const line of createInterface({ input: running.stdout as NonNullable<typeof running.stdout> })) {
    const words = line.split(" ");
    if (first === undefined) first = words;
    else acknowledged.set(words[0] as string, { value: Number(words[1]), revision: Number(words[2]) });
    lines += 1;
    if (lines === 300) running.kill("SIGKILL");
  }
  await exited;
  const store = await EmbeddedStore.open({ folder, clock: new ManualClock(), random: Math.random });
  const page = await store.range("/", { timeoutMs: 5000 });
  expect([store.origin, page.incarnation]).toEqual(["kept", first?.[1]]);
  expect(acknowledged.size).toBe(3);
  for (const { key, value, revision, session } of page.entries) {
    const last = acknowledged.get(key.slice(1));
    expect(Number(value)).toBeGreaterThanOrEqual(last?.value ?? Infinity);
    expect(revision).toBeGreaterThanOrEqual(last?.revision ?? Infinity);
    expect(session).toBe(first?.[0]);
  }
  expect((await store.renew([first?.[0] ?? ""], { timeoutMs: 5000 })).gone).toEqual([]);
  await store.close();
});

test("a folder without permission is reported", async () => {
  const folder = join(root, "private");
  // Root may do everything, so it gives its rights away; anybody else takes their own away.
  const isRoot = process.getuid?.() === 0;
  mkdirSync(folder, { mode: isRoot ? 0o700 : 0 });
  const refused = child(
    folder,
    `${isRoot ? "process.setgid(65534); process.setuid(65534);" : ""}
     await open().then(() => console.log("opened"), (error) => console.log(error.code, error.message));`,
  );
  const [said] = (await once(refused.stdout as NonNullable<typeof refused.stdout>, "data")) as [Buffer];
  expect(said.toString().trim()).toBe(
    `FOLDER_UNUSABLE ${folder} cannot be used: no permission; give this user the right to read and write it, or name another folder`,
  );
});
