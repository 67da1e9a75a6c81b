import { shardKey, type ReplicaKey } from "../../identity/keys.ts";
import { shardIds, type View } from "../../membership/view.ts";
import type { Plan, PlanLine } from "../plan.ts";
import { chunkShardsMax, type ChunkLine, type PlanChunk } from "./plan-chunk.ts";
import { StoredLine } from "./stored-line.ts";
import { Successors } from "./successors.ts";

/** The plan that a view and the stored chunks make; see {@link StoredPlans}. */
export function storedPlan(options: {
  readonly service: string;
  readonly view: View;
  readonly chunks: Iterable<PlanChunk>;
}): Plan {
  return new StoredPlans(options.service).plan(options.view, options.chunks);
}

/** The lines of 256 shards, in their order in the view. */
interface Part {
  /** The chunk they were made from, if they all were. */
  readonly chunk: PlanChunk | undefined;
  readonly keys: readonly ReplicaKey[];
  readonly lines: readonly PlanLine[];
}

/**
 * Makes plans of views and stored chunks, in the form that hosts use: the stored target first, then who takes over, in an order that every node
 * computes alike. So a lost node's replicas are taken over at once, without waiting for the manager; its next plan then says who keeps them.
 *
 * It remembers the parts of the last plan: after a change of one chunk only that chunk's lines are made anew. A chunk is known by identity, so pass the same
 * decoded value again as long as it is stored.
 */
export class StoredPlans {
  readonly #service: string;
  #view: View | undefined;
  #ids: readonly string[] = [];
  #successors: Successors | undefined;
  #parts: Part[] = [];

  constructor(service: string) {
    this.#service = service;
  }

  plan(view: View, chunks: Iterable<PlanChunk>): Plan {
    if (this.#view !== view) {
      this.#view = view;
      this.#ids = shardIds(view.parameters);
      this.#successors = new Successors(view);
      this.#parts = [];
    }
    const stored = new Map<number, PlanChunk>();
    for (const chunk of chunks) stored.set(chunk.chunk, chunk);
    const lines = new Map<ReplicaKey, PlanLine>();
    let scattered: ReadonlyMap<string, readonly ChunkLine[]> | undefined;
    for (let number = 0; number * chunkShardsMax < this.#ids.length; number++) {
      const chunk = stored.get(number);
      let part = this.#parts[number];
      if (part?.chunk === undefined || part.chunk !== chunk) {
        const ids = this.#ids.slice(number * chunkShardsMax, (number + 1) * chunkShardsMax);
        const whole = chunk && covers(chunk, ids) ? chunk : undefined;
        // Ids that moved to another chunk since the plan was stored are looked for in all of them.
        const known = whole ? linesById([whole]) : (scattered ??= linesById(stored.values()));
        part = this.#part(ids, whole, known);
        this.#parts[number] = part;
      }
      for (const [i, key] of part.keys.entries()) lines.set(key, part.lines[i]!);
    }
    return { viewN: view.n, parameters: view.parameters, lines };
  }

  #part(
    ids: readonly string[],
    chunk: PlanChunk | undefined,
    known: ReadonlyMap<string, readonly ChunkLine[]>,
  ): Part {
    const view = this.#view!;
    const keys: ReplicaKey[] = [];
    const lines: PlanLine[] = [];
    for (const id of ids) {
      const shard = shardKey(this.#service, id);
      const stored = known.get(id) ?? [];
      const inLine = this.#successors!.of(shard, stored, view.parameters.replicas);
      for (const [replica, candidates] of inLine.entries()) {
        keys.push(`${shard}/${replica}`);
        lines.push(new StoredLine(view.n, candidates, stored[replica]));
      }
    }
    return { chunk, keys, lines };
  }
}

function covers(chunk: PlanChunk, ids: readonly string[]): boolean {
  return chunk.shards.length === ids.length && chunk.shards.every((id, i) => id === ids[i]);
}

function linesById(chunks: Iterable<PlanChunk>): ReadonlyMap<string, readonly ChunkLine[]> {
  const known = new Map<string, readonly ChunkLine[]>();
  for (const { shards, replicas, lines } of chunks)
    for (const [i, id] of shards.entries()) known.set(id, lines.slice(i * replicas, (i + 1) * replicas));
  return known;
}
