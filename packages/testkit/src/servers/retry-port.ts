import { freePort } from "./free-port.ts";
import { ServerProcess, ServerStartError, type ServerPlan, type TestServer } from "./server-process.ts";

const TRIES_MAX = 5;

/** Starts a server on a free port, and on another one when somebody else took that port first. */
export async function startOnFreePort(
  plan: (port: number) => ServerPlan | Promise<ServerPlan>,
): Promise<TestServer> {
  for (let tried = 1; ; tried += 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- the next port is tried when this one was taken.
      return await ServerProcess.start(await plan(await freePort()));
    } catch (error) {
      const taken = error instanceof ServerStartError && /address already in use/i.test(error.message);
      if (!taken || tried === TRIES_MAX) throw error;
    }
  }
}
