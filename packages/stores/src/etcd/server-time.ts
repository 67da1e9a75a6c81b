/**
 * What the clock of an etcd member shows. Its gRPC replies do not say; its HTTP replies on the same port carry a `date` with whole seconds. So the
 * difference to our own clock is measured once per connection, and one that is less than the measurement can tell counts as none.
 */
import type { Clock } from "@keelson/kernel";
import { get as getHttp } from "node:http";
import { get as getHttps } from "node:https";
import type { Target } from "./grpc/target.ts";

const RESOLUTION_MS = 1_000;

/** Never rejects: without an answer in time the clocks are taken for equal. */
export async function measureClockOffset(target: Target, clock: Clock, withinMs: number): Promise<number> {
  const askedAt = clock.wall();
  const server = await serverDate(target, withinMs).catch(() => undefined);
  if (server === undefined) return 0;
  // The second that it names began up to a second before it answered.
  const offset = server + RESOLUTION_MS / 2 - (askedAt + clock.wall()) / 2;
  return Math.abs(offset) < RESOLUTION_MS ? 0 : offset;
}

function serverDate({ host, port, tls }: Target, withinMs: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { host, port, path: "/version", agent: false, timeout: withinMs };
    const request = (tls === undefined ? getHttp(options) : getHttps({ ...options, ...tls })).on(
      "response",
      (response) => {
        response.resume();
        const date = Date.parse(response.headers.date ?? "");
        resolve(Number.isNaN(date) ? undefined : date);
      },
    );
    request.on("timeout", () => request.destroy(new Error(`no answer within ${withinMs} ms`)));
    request.on("error", reject);
  });
}
