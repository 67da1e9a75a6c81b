import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the range that the system gives to outgoing connections, so that none takes the port while a server restarts. */
const PORT_MIN = 15_000;
const PORT_MAX = 32_000;
const TRIES_MAX = 100;

/** A TCP port of the loopback address that nobody listens on. Somebody may an instant later: who starts a server tries again then. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < TRIES_MAX; tried += 1) {
    const port = randomInt(PORT_MIN, PORT_MAX);
    // oxlint-disable-next-line no-await-in-loop -- the next port is tried when this one is taken.
    if (await canListen(port)) return port;
  }
  throw new Error(`no free port among ${TRIES_MAX} tried from ${PORT_MIN} to ${PORT_MAX}`);
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
