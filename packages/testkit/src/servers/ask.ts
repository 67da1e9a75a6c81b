import { connect } from "node:net";

/** Sends bytes to a loopback port and gives the first bytes of the answer. */
export function ask(port: number, question: Buffer | string, withinMs = 1_000): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.setTimeout(withinMs, () => socket.destroy(new Error(`no answer within ${withinMs} ms`)));
    socket.on("connect", () => socket.write(question));
    socket.once("data", (answer) => {
      resolve(answer);
      socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("closed without an answer")));
  });
}
