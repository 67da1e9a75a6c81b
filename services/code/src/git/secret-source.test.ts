import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { SecretSource } from "./secret-source.ts";

vi.setConfig({ testTimeout: 30_000 });

test("a command that does not end is ended, with what it started, and this is said", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keelson-secret-"));
  const [program, left] = [join(folder, "command"), join(folder, "left")];
  writeFileSync(program, `#!/bin/sh\ntrap '' TERM\nsleep 600 &\necho $! > ${left}\nwait\nwait\n`, {
    mode: 0o700,
  });
  const ports = { now: () => 0, environment: {}, commandMs: 1_000 };
  try {
    await expect(new SecretSource(`command:${program}`, ports).read()).rejects.toMatchObject({
      code: "BAD_CREDENTIALS_SOURCE",
      message:
        'credentials from "command:…" cannot be read: the command took longer than 1000 ms: mend it on the node',
    });
    const started = Number(readFileSync(left, "utf8"));
    await vi.waitFor(() => expect(isRunning(started)).toBe(false), 10_000);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** One that has ended and that nobody has asked for runs no more. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
