/** The log of changes in a Redis stream, as the change feed reads it: pages by a script, and what comes by a blocking read on a connection of its own. */
import type { Change, ChangeBatch, Revision } from "@keelson/kernel";
import type { LogFollower, LogPage } from "../feed/change-log.ts";
import { RedisConnection } from "./connection.ts";
import { BLOCK_MS, CONNECT_MS, LOG_PAGE, SILENCE_MS, type RedisStoreOptions } from "./options.ts";

/** An entry of the stream as Redis gives it: its id, and fields and values in turn. */
export type StreamEntry = readonly [id: string, fields: readonly string[]];

export function batchOf([id, fields]: StreamEntry): ChangeBatch {
  const revision = Number(id.slice(0, id.indexOf("-")));
  const changes: Change[] = [];
  let incarnation = "";
  for (let at = 0; at < fields.length; at += 2) {
    const field = fields[at] as string;
    const value = fields[at + 1] as string;
    const key = field.slice(1);
    if (field.startsWith("+")) changes.push({ kind: "put", entry: { key, revision, ...content(value) } });
    else if (field.startsWith("-")) changes.push({ kind: "delete", key, revision });
    else if (field === "expired")
      for (const name of JSON.parse(value) as string[])
        changes.push({ kind: "delete", key: name, revision, expired: true });
    else if (field === "incarnation") incarnation = value;
  }
  return { revision, incarnation, changes };
}

/** `<session or -> <value>`. */
export function content(text: string): { value: string; session?: string } {
  const space = text.indexOf(" ");
  const session = text.slice(0, space);
  const value = text.slice(space + 1);
  return session === "-" ? { value } : { value, session };
}

export class StreamFollower implements LogFollower {
  readonly #options: RedisStoreOptions;
  readonly #log: string;
  #connection: RedisConnection | undefined;
  #closed = false;

  constructor(options: RedisStoreOptions, log: string) {
    this.#options = options;
    this.#log = log;
  }

  async next(after: Revision): Promise<LogPage> {
    this.#connection ??= await RedisConnection.open(this.#options, CONNECT_MS, () => {});
    if (this.#closed) this.#connection.close();
    const command = ["XREAD", "COUNT", `${LOG_PAGE}`, "BLOCK", `${BLOCK_MS}`];
    const reply = await this.#connection.send(
      [...command, "STREAMS", this.#log, `${after}-0`],
      BLOCK_MS + SILENCE_MS,
    );
    const streams = (reply ?? []) as unknown as readonly (readonly [string, readonly StreamEntry[]])[];
    return { batches: (streams[0]?.[1] ?? []).map(batchOf) };
  }

  close(): void {
    this.#closed = true;
    this.#connection?.close();
  }
}
