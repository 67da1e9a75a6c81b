/**
 * What the clock of an etcd member shows. Its gRPC replies do not say; its HTTP replies on the same port carry a `date` with whole seconds. So the
 * difference to our own clock is measured once per connection, and one that is less than the measurement can tell counts as none.
 */
import type { Clock } from "@keelson/kernel";
import { get as getHttp } from "node:http";
import { get as getHttps } from "node:https";
import type { Target } from "./grpc/target.ts";

const RESOLUTION_MS = 1_000;
/** A connection waits this long for the answer before it is used; behind a proxy for gRPC alone there will be none. */
const WITHIN_MS = 200;

/** Never rejects: without an answer in time the clocks are taken for equal. */
export async function measureClockOffset(target: Target, clock: Clock): Promise<number> {
  const askedAt = clock.wall();
  const server = await serverDate(target, clock).catch(() => undefined);
  if (server === undefined) return 0;
  // The second that it names began up to a second before it answered.
  const offset = server + RESOLUTION_MS / 2 - (askedAt + clock.wall()) / 2;
  return Math.abs(offset) < RESOLUTION_MS ? 0 : offset;
}

function serverDate({ host, port, tls }: Target, clock: Clock): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { host, port, path: "/version", agent: false };
    const request = tls === undefined ? getHttp(options) : getHttps({ ...options, ...tls });
    const timer = clock.after(WITHIN_MS, () =>
      request.destroy(new Error(`no answer within ${WITHIN_MS} ms`)),
    );
    request.on("response", (response) => {
      response.resume();
      const date = Date.parse(response.headers.date ?? "");
      resolve(Number.isNaN(date) ? undefined : date);
    });
    request.on("error", reject);
    request.on("close", () => timer.cancel());
  });
}
