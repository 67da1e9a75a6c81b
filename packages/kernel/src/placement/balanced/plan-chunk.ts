import { STORE_LIMITS } from "../../store/contract.ts";
import type { Why } from "./proposal.ts";
import { utf8Bytes } from "./utf8.ts";

/**
 * The stored form of a plan: one value for 256 shards, under `plan/<service>/<chunk>`. It holds each replica's target and what is needed to say
 * why: the phase that chose it, the node it came from and the view it was chosen in. Nodes stand in a table, because names are long and few.
 */
export interface PlanChunk {
  /** Its number: shards 256 × chunk and the 255 after, in the order of the service's shard ids. */
  readonly chunk: number;
  /** The view that the last change was made for. */
  readonly viewN: number;
  readonly replicas: number;
  /** The ids of its shards. */
  readonly shards: readonly string[];
  /** One per replica, shard by shard. */
  readonly lines: readonly ChunkLine[];
  /** Fields that a later version wrote and this one does not know; they survive a rewrite. */
  readonly unknown?: Readonly<Record<string, unknown>>;
}

export interface ChunkLine {
  /** The target; undefined when nobody can hold the replica. */
  readonly to: string | undefined;
  /** Who held it when the target was chosen. */
  readonly from: string | undefined;
  readonly why: Why;
  /** The view in which the target was chosen. */
  readonly viewN: number;
}

export const chunkShardsMax = 256;

const letters: Readonly<Record<Why, string>> = {
  stays: "k",
  new: "n",
  lost: "l",
  draining: "d",
  pinned: "p",
  displaced: "w",
  zones: "z",
  peak: "c",
  floor: "f",
  swap: "s",
};
const whys = new Map(Object.entries(letters).map(([why, letter]) => [letter, why as Why]));

/** Version 1, as stored. −1 in `to` and `from` is nobody; `ids` is left out when shards are numbered. */
interface StoredChunk {
  readonly v: 1;
  readonly chunk: number;
  readonly n: number;
  readonly replicas: number;
  readonly ids?: readonly string[];
  readonly nodes: readonly string[];
  readonly to: readonly number[];
  readonly from: readonly number[];
  /** One letter per replica. */
  readonly why: string;
  readonly since: readonly number[];
}

/**
 * The value to store. When it would be too long for a value, which takes names of some 60 characters on hundreds of nodes, where replicas came from is left out;
 * a RangeError says so when even that does not help.
 */
export function encodePlanChunk(chunk: PlanChunk): string {
  const full = encode(chunk, chunk.lines);
  if (utf8Bytes(full) <= STORE_LIMITS.valueBytesMax) return full;
  const short = encode(
    chunk,
    chunk.lines.map((line) => ({ ...line, from: undefined })),
  );
  const bytes = utf8Bytes(short);
  if (bytes <= STORE_LIMITS.valueBytesMax) return short;
  throw new RangeError(
    `256 shards of the plan take ${bytes} bytes, more than the ${STORE_LIMITS.valueBytesMax} of a value: use shorter shard ids or node names, or fewer replicas`,
  );
}

function encode(chunk: PlanChunk, lines: readonly ChunkLine[]): string {
  const names = lines.flatMap(({ to, from }) => [to, from]).filter((node) => node !== undefined);
  const nodes = [...new Set(names)].sort();
  const table = new Map(nodes.map((node, index) => [node, index]));
  const indexOf = (node: string | undefined): number => (node === undefined ? -1 : table.get(node)!);
  const stored: StoredChunk = {
    v: 1,
    chunk: chunk.chunk,
    n: chunk.viewN,
    replicas: chunk.replicas,
    ...(isNumbered(chunk) ? {} : { ids: chunk.shards }),
    nodes,
    to: lines.map(({ to }) => indexOf(to)),
    from: lines.map(({ from }) => indexOf(from)),
    why: lines.map(({ why }) => letters[why]).join(""),
    since: lines.map(({ viewN }) => viewN),
  };
  return JSON.stringify({ ...chunk.unknown, ...stored });
}

/** Reads a stored value. A value that makes no sense is a problem in words, never half a chunk. */
export function decodePlanChunk(value: string): PlanChunk | { readonly problem: string } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    return { problem: "a chunk of the plan is not JSON" };
  }
  if (parsed === null || typeof parsed !== "object")
    return { problem: "a chunk of the plan is not an object" };
  const { v, chunk, n, replicas, ids, nodes, to, from, why, since, ...unknown } = parsed as Record<
    string,
    unknown
  >;
  if (v !== 1)
    return { problem: `a chunk of the plan has version ${JSON.stringify(v)}, and this node knows 1` };
  const good =
    isCount(chunk) &&
    isCount(n) &&
    isCount(replicas) &&
    replicas > 0 &&
    isStrings(nodes) &&
    isIndices(to, nodes.length) &&
    isIndices(from, nodes.length) &&
    typeof why === "string" &&
    Array.isArray(since) &&
    since.every(isCount) &&
    to.length % replicas === 0 &&
    to.length / replicas <= chunkShardsMax &&
    [from.length, why.length, since.length].every((length) => length === to.length) &&
    (ids === undefined || (isStrings(ids) && ids.length * replicas === to.length));
  if (!good) return { problem: "a chunk of the plan is damaged" };
  const node = (index: number): string | undefined => nodes[index];
  const lines = to.map((target, i) => ({
    to: node(target),
    from: node(from[i]!),
    // A letter that a later version added: the target counts all the same.
    why: whys.get(why[i]!) ?? ("stays" as const),
    viewN: since[i] as number,
  }));
  const shards = ids ?? numbered(chunk, to.length / replicas);
  const rest = Object.keys(unknown).length === 0 ? {} : { unknown };
  return { chunk, viewN: n, replicas, shards, lines, ...rest };
}

function isNumbered({ chunk, shards }: PlanChunk): boolean {
  return shards.every((id, i) => id === String(chunk * chunkShardsMax + i));
}

function numbered(chunk: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => String(chunk * chunkShardsMax + i));
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function isIndices(value: unknown, size: number): value is readonly number[] {
  return Array.isArray(value) && value.every((one) => Number.isInteger(one) && one >= -1 && one < size);
}
