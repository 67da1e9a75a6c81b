/**
 * Splits a shard in two, while clients wait and lose nothing.
 *
 * Before: the shard is held here. (1) It takes no more commands and puts everything into a checkpoint; clients are told SPLITTING and come again. (2) Its pages
 * are copied, once for each half. (3) One commit replaces it by its halves in the service's list of shards, guarded by the list's revision and by this tenure.
 * After: the halves are granted as any shards are, each keeps its own tenants of the copy, and the whole is released. Until (3) nothing counts: any failure before
 * lets the shard go on as it was, and a crash leaves copies that the next try replaces. A commit that got no answer is sent again until there is one, while clients
 * wait: its guards let only one of them be carried out, and a shard that went on in doubt could acknowledge what its halves do not have.
 */
import type { Epoch } from "@keelson/kernel";
import type { Catalogue } from "@keelson/runtime";
import { SERVICE } from "../client/shard-calls.ts";
import { rangeId, type ShardRange } from "./ranges.ts";
import { ShardFailure } from "./shard-failure.ts";

export interface SplitPorts {
  readonly catalogue: Catalogue;
  /** The ids of all shards, while nobody has made a list. */
  readonly initialIds: readonly string[];
  readonly epoch: Epoch;
  /** Copies the shard's pages for a half. */
  readonly copy: (half: string) => Promise<void>;
  /** A moment between two tries of the commit. */
  pause(): Promise<void>;
  /** No journal is needed for the whole any more. */
  release(): Promise<void>;
  /** It could not be said: journals are kept longer than they are needed. */
  onKept(error: unknown): void;
}

/** Longer than a copy of the list is behind; a list that has not changed by then means that the tenure has ended, and this shard with it. */
const LOOKS_MAX = 100;
const RELEASE_TRIES = 5;

export interface Halves {
  readonly left: string;
  readonly right: string;
}

/** `at` is the first place of the right half; the middle when left out. */
export function halvesOf({ first, last }: ShardRange, at?: bigint): Halves {
  const middle = at ?? first + (last - first + 1n) / 2n;
  if (middle <= first || middle > last)
    throw new ShardFailure(
      "INVALID",
      "the split point must lie within the shard's range, and not at its beginning",
    );
  return { left: rangeId(first, middle - 1n), right: rangeId(middle, last) };
}

/** Steps 2 and 3. Throws when the shard was not split, and then it was not. */
export async function splitFrozen(range: ShardRange, halves: Halves, ports: SplitPorts): Promise<void> {
  const { catalogue, copy, epoch, initialIds } = ports;
  await copy(halves.left);
  await copy(halves.right);
  const { head } = catalogue;
  const ids = head?.value.shardIds ?? initialIds;
  const shardIds = ids.flatMap((id) => (id === range.id ? [halves.left, halves.right] : [id]));
  const change = {
    guards: [{ about: "head", revision: head?.revision ?? 0 }],
    writes: [{ about: "head", value: { v: 1, n: (head?.value.n ?? 0) + 1, shardIds } }],
    holder: { replica: `${SERVICE}/${range.id}/0`, epoch },
  };
  const isListed = (): boolean => catalogue.head?.value.shardIds.includes(halves.left) === true;
  let report = await catalogue.commit(change);
  let inDoubt = false;
  while (report === "unknown" || (inDoubt && report === "unavailable")) {
    inDoubt = true;
    // oxlint-disable-next-line no-await-in-loop -- until it is known.
    await ports.pause();
    // oxlint-disable-next-line no-await-in-loop -- as above.
    report = await catalogue.commit(change);
  }
  // What was refused because the one before it was carried out is seen in the list, once its copy here is as new.
  const looks = inDoubt && report === "conflict" ? LOOKS_MAX : 0;
  for (let look = 0; look < looks && catalogue.head?.revision === head?.revision; look += 1)
    // oxlint-disable-next-line no-await-in-loop -- until it is.
    await ports.pause();
  if (report === "committed" || isListed()) return release(ports);
  throw new ShardFailure("WRONG_STATE", `the list of shards could not be changed (${report}): try again`);
}

/** The halves count already, so that no failure here may let the whole go on. */
async function release(ports: SplitPorts): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- a few tries.
      return await ports.release();
    } catch (error) {
      if (tries >= RELEASE_TRIES) return ports.onKept(error);
    }
    // oxlint-disable-next-line no-await-in-loop -- as above.
    await ports.pause();
  }
}
