/** `keelson doctor`: what is wrong, and what to do about it. Ends with 3 when something is. */
import { Command } from "commander";
import pc from "picocolors";
import type { Finding } from "@keelson/runtime";
import { throughDoor, withDoor } from "../../admin/door.ts";

export function doctorCommand(): Command {
  const command = withDoor(new Command("doctor"));
  return command.action(() =>
    throughDoor(command, async ({ admin, print }) => {
      const timer = setInterval(() => print.progress("looking twice, to see what moves"), 300);
      try {
        const findings = await admin.doctor();
        print.show(findings, () => findingsText(findings));
        if (findings.some(({ level }) => level === "error")) process.exitCode = 3;
      } finally {
        clearInterval(timer);
      }
    }),
  );
}

const MARKS: Readonly<Record<Finding["level"], string>> = {
  ok: pc.green("ok   "),
  warning: pc.yellow("note "),
  error: pc.red("WRONG"),
};

export function findingsText(findings: readonly Finding[]): string {
  return findings
    .map(({ level, check, says, advice }) => {
      const line = `${MARKS[level]} ${pc.bold(check.padEnd(8))} ${says}`;
      return advice === undefined ? line : `${line}\n${" ".repeat(15)}${pc.dim("→")} ${advice}`;
    })
    .join("\n");
}
