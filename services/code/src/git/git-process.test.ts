import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Scratch } from "./fixtures/scratch.ts";
import { git } from "./git-process.ts";

vi.setConfig({ testTimeout: 40_000 });

let scratch: Scratch;
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => scratch.remove());

test("one that left git's group and has its output open is not waited for", async () => {
  const [ssh, left] = [join(scratch.folder, "ssh"), join(scratch.folder, "left")];
  // As ssh does with a connection that it keeps for the next time.
  writeFileSync(ssh, `#!/bin/sh\nsetsid sh -c 'echo $$ > ${left}; exec sleep 600' &\nexec sleep 600\n`, {
    mode: 0o700,
  });
  const ending = new AbortController();
  const asked = git(["ls-remote", "ssh://127.0.0.1/a"], {
    what: "a",
    signal: ending.signal,
    environment: { GIT_SSH_COMMAND: ssh },
  }).catch((error: unknown) => error);
  await vi.waitFor(() => expect(readFileSync(left, "utf8")).toMatch(/\n/), 20_000);
  try {
    ending.abort();
    expect(await asked).toMatchObject({ code: "CANCELLED" });
  } finally {
    process.kill(Number(readFileSync(left, "utf8")));
  }
});

test("git does not go on when the process that started it has ended", async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket.on("error", () => undefined).resume()));
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const connected = once(silent, "connection") as Promise<[Socket]>;
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/a`;
  const module = new URL("git-process.ts", import.meta.url).href;
  const code = `
    const { git } = await import(${JSON.stringify(module)});
    git(["ls-remote", ${JSON.stringify(url)}], { what: "a" }).catch(() => undefined);
    process.stdin.once("data", () => process.exit(0));
  `;
  const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
  const child = spawn(process.execPath, ["--import", loader, "--input-type=module", "-e", code], {
    stdio: ["pipe", "ignore", "inherit"],
  });
  try {
    const [socket] = await connected;
    const closed = once(socket, "close");
    child.stdin.write("\n");
    await closed;
    expect(socket.destroyed).toBe(true);
  } finally {
    child.kill("SIGKILL");
    for (const each of sockets) each.destroy();
    silent.close();
  }
});
