import type { BalancedProposal } from "./proposal.ts";
import { chunkShardsMax, type ChunkLine, type PlanChunk } from "./plan-chunk.ts";

/** What has to be written so that the stored plan says what the proposal says. */
export interface ChunkChanges {
  readonly put: readonly PlanChunk[];
  /** Numbers of chunks that no shard is left for. */
  readonly remove: readonly number[];
}

/**
 * Compares a proposal with the chunks that are stored. Only chunks that differ are written, and in them a replica whose target stays keeps its
 * reason, so that "why is it there?" is answered by what brought it there, not by the last plan that left it alone.
 */
export function chunkChanges(
  proposal: BalancedProposal,
  service: { readonly shards: readonly string[]; readonly replicas: number },
  stored: Iterable<PlanChunk>,
): ChunkChanges {
  const { shards, replicas } = service;
  const before = new Map<number, PlanChunk>();
  const known = new Map<string, readonly ChunkLine[]>();
  for (const chunk of stored) {
    before.set(chunk.chunk, chunk);
    for (const [i, id] of chunk.shards.entries())
      known.set(id, chunk.lines.slice(i * chunk.replicas, (i + 1) * chunk.replicas));
  }
  const from = new Map(proposal.moves.map((move) => [move.index, move.from]));
  const line = (index: number): ChunkLine => {
    const old = known.get(shards[Math.floor(index / replicas)]!)?.[index % replicas];
    const to = proposal.targets[index];
    if (old && old.to === to) return old;
    return { to, from: from.get(index), why: proposal.whys[index]!, viewN: proposal.viewN };
  };
  const put: PlanChunk[] = [];
  const count = Math.ceil(shards.length / chunkShardsMax);
  for (let chunk = 0; chunk < count; chunk++) {
    const first = chunk * chunkShardsMax;
    const ids = shards.slice(first, first + chunkShardsMax);
    const lines = Array.from({ length: ids.length * replicas }, (_, i) => line(first * replicas + i));
    const old = before.get(chunk);
    if (old && same(old, ids, lines, replicas)) continue;
    const unknown = old?.unknown === undefined ? {} : { unknown: old.unknown };
    put.push({ chunk, viewN: proposal.viewN, replicas, shards: ids, lines, ...unknown });
  }
  return { put, remove: [...before.keys()].filter((chunk) => chunk >= count) };
}

function same(
  old: PlanChunk,
  ids: readonly string[],
  lines: readonly ChunkLine[],
  replicas: number,
): boolean {
  return (
    old.replicas === replicas &&
    old.shards.length === ids.length &&
    old.shards.every((id, i) => id === ids[i]) &&
    lines.every((line, i) => line === old.lines[i])
  );
}

/** The targets of stored chunks, by replica index: what the next plan's input wants. */
export function storedTargets(
  service: { readonly shards: readonly string[]; readonly replicas: number },
  stored: Iterable<PlanChunk>,
): (string | undefined)[] {
  const positions = new Map(service.shards.map((id, position) => [id, position]));
  const targets = Array.from(
    { length: service.shards.length * service.replicas },
    (): string | undefined => undefined,
  );
  for (const chunk of stored) {
    for (const [i, id] of chunk.shards.entries()) {
      const position = positions.get(id);
      if (position === undefined) continue;
      for (let replica = 0; replica < Math.min(service.replicas, chunk.replicas); replica++)
        targets[position * service.replicas + replica] = chunk.lines[i * chunk.replicas + replica]?.to;
    }
  }
  return targets;
}
