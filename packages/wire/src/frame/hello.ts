import { MalformedFrame } from "../errors.ts";
import { decodeValue, encodeValue, LENGTH_BYTES } from "./codec.ts";
import { KIND } from "./frame.ts";

/**
 * The first thing each side sends: four bytes that say "keelson", then one frame that says who speaks and which protocols it knows.
 * A major version changes meanings; both sides use the highest that both know. A minor version only adds fields and kinds, which
 * older readers ignore, so it is told for people and never compared.
 */
export interface Hello {
  readonly min: number;
  readonly max: number;
  readonly minor: number;
  /** The node's name, or what kind of client this is. For logs; it proves nothing. */
  readonly name: string;
  readonly token: string | undefined;
}

export const MAGIC = Buffer.from("KEEL", "latin1");
export const PROTOCOL = { min: 1, max: 1, minor: 0 } as const;
/** A hello is read before anything is known about its sender. */
export const HELLO_BYTES_MAX = 4_096;

export function encodeHello(hello: Hello): Buffer {
  const { token, ...rest } = hello;
  const frame = encodeValue([KIND.hello, token === undefined ? rest : { ...rest, token }], HELLO_BYTES_MAX);
  return Buffer.concat([MAGIC, frame]);
}

/** The hello in `bytes[start, end)`, which lie after the magic and the length. Throws MalformedFrame. */
export function decodeHello(bytes: Uint8Array, start: number, end: number): Hello {
  const value = decodeValue(bytes, start, end);
  const fields: unknown = Array.isArray(value) && value[0] === KIND.hello ? value[1] : undefined;
  if (typeof fields !== "object" || fields === null)
    throw new MalformedFrame("the first frame must be a hello");
  const { min, max, minor, name, token } = fields as Readonly<Record<string, unknown>>;
  if (!isVersion(min) || !isVersion(max) || min > max)
    throw new MalformedFrame("a hello must say min and max version");
  if (typeof name !== "string") throw new MalformedFrame("a hello must give a name");
  return {
    min,
    max,
    minor: isVersion(minor) ? minor : 0,
    name: name.slice(0, 200),
    token: typeof token === "string" ? token : undefined,
  };
}

/** The major version that both know, or undefined. */
export function chooseVersion(
  ours: Pick<Hello, "min" | "max">,
  theirs: Pick<Hello, "min" | "max">,
): number | undefined {
  const highest = Math.min(ours.max, theirs.max);
  return highest >= Math.max(ours.min, theirs.min) ? highest : undefined;
}

/** Where the first frame's length begins. */
export const HELLO_PREFIX_BYTES = MAGIC.length + LENGTH_BYTES;

function isVersion(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 1_000_000;
}
