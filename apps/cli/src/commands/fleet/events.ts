/** `keelson events`: what happened lately, and with `--follow` what happens. */
import { Command } from "commander";
import pc from "picocolors";
import type { FleetEvent, FleetEventKind } from "@keelson/runtime";
import { throughDoor, withDoor } from "../../admin/door.ts";
import { timeOfDay } from "../../report/ago.ts";

const WAIT_MS = 10_000;

export function eventsCommand(): Command {
  const command = withDoor(
    new Command("events").option("-f, --follow", "go on with what happens, until Ctrl-C"),
  );
  return command.action(({ follow }: { follow?: boolean }) =>
    throughDoor(command, async ({ admin, print }) => {
      let page = await admin.events({ limit: 1_000 });
      if (page.events.length === 0 && follow !== true && !print.json) {
        print.line("nothing has happened since this began to look: --follow shows what does", undefined);
        return;
      }
      for (;;) {
        if (page.missed) print.line(pc.yellow("… some events were missed"), { missed: true });
        for (const event of page.events) print.line(eventText(event), event);
        if (follow !== true) return;
        page = await admin.events({ after: page.cursor, waitMs: WAIT_MS });
      }
    }),
  );
}

const TONES: Partial<Record<FleetEventKind, (text: string) => string>> = {
  joined: pc.green,
  granted: pc.green,
  "handed-over": pc.cyan,
  lost: pc.red,
  trouble: pc.red,
  left: pc.yellow,
  released: pc.yellow,
  operator: pc.magenta,
};

export function eventText({ at, kind, text }: FleetEvent): string {
  const tone = TONES[kind] ?? ((plain: string): string => plain);
  return `${pc.dim(timeOfDay(at))} ${tone(kind.padEnd(11))} ${text}`;
}
