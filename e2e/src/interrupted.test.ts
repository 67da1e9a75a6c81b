/** Ctrl-C and SIGTERM in commands that wait for a gateway: they end at once, and whoever ran them can see that they did not get done. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KeelsonProcess, stopAll } from "./process/keelson-process.ts";

/** A gateway that never answers, and says when it was asked. */
const silent = createServer(() => undefined);
let url = "";

beforeAll(async () => {
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await stopAll();
  silent.closeAllConnections();
  silent.close();
});

test.each([
  ["code search x", "SIGINT", 130],
  ["code search x", "SIGTERM", 143],
  ["code add /nowhere/at/all", "SIGINT", 130],
  ["code status", "SIGINT", 130],
  ["jobs enqueue g --tenant t", "SIGINT", 130],
  ["status", "SIGINT", 130],
  ["events --follow", "SIGTERM", 143],
] as const)(
  "%s ended by %s exits with %i and prints nothing",
  async (command, signal, code) => {
    const asked = once(silent, "request");
    const verb = new KeelsonProcess([...command.split(" "), "--url", url]);
    // One that ended before it asked shows below how.
    await Promise.race([asked, verb.ended]);
    verb.signal(signal);
    await verb.endsWith(code);
    expect(verb.all).toBe("");
  },
  60_000,
);
