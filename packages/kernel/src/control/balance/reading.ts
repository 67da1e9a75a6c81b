import { replicaKey, type ReplicaKey } from "../../identity/keys.ts";
import type { Known } from "../../lifecycle/facts.ts";
import type { Member } from "../../membership/member.ts";
import { shardIds, type View } from "../../membership/view.ts";
import { chunkShardsMax, decodePlanChunk, type PlanChunk } from "../../placement/balanced/plan-chunk.ts";
import type { Entry } from "../../store/contract.ts";
import type { Tenure } from "../../tenure/tenure.ts";
import type { ControllerInput } from "../controller.ts";

/**
 * What the copy of the store says of one service, in the form that plans are made from: by replica index, `shard × replicas + replica`. Entries are taken apart once,
 * not at every look: a service may have 100,000 replicas, of which few change between two looks.
 */
export class BalanceReading {
  readonly service: string;
  view: Known<View> | undefined;
  shards: readonly string[] = [];
  replicas = 1;
  /** By index. */
  replicaKeys: readonly ReplicaKey[] = [];
  /** By index: `<shard>/<replica>`, as in reports. */
  names: readonly string[] = [];
  /** By index: who has the tenure. */
  holders: (string | undefined)[] = [];
  /** Rises when a holder or a chunk changed. */
  version = 0;
  /** Values that stand where a chunk should be and cannot be read. */
  problems: readonly string[] = [];

  #tenureKeys: readonly string[] = [];
  #tenureRevisions: number[] = [];
  readonly #chunks = new Map<number, { readonly entry: Entry; readonly chunk: PlanChunk | undefined }>();
  readonly #members = new Map<string, { readonly entry: Entry; readonly member: Member }>();

  constructor(service: string) {
    this.service = service;
  }

  /** Whether there is a view to plan for. */
  lookAtView(input: ControllerInput): boolean {
    const entry = input.get(input.keys.view(this.service));
    if (!entry) this.view = undefined;
    else if (this.view?.revision !== entry.revision) this.#setView(entry, input);
    return this.view !== undefined;
  }

  /** Who holds what, and what is planned. Requires a view. */
  lookAtReplicas(input: ControllerInput): void {
    this.#lookAtTenures(input);
    this.#lookAtChunks(input);
  }

  /** The stored chunks, by their numbers. */
  *chunks(): Iterable<PlanChunk> {
    for (const { chunk } of this.#chunks.values()) if (chunk) yield chunk;
  }

  /** What each node has, by name as in reports. */
  heldBy(): ReadonlyMap<string, readonly string[]> {
    const held = new Map<string, string[]>();
    for (const [index, node] of this.holders.entries()) {
      if (node === undefined) continue;
      const names = held.get(node);
      if (names) names.push(this.names[index]!);
      else held.set(node, [this.names[index]!]);
    }
    return held;
  }

  /** To guard a chunk's next value on. */
  chunkRevision(chunk: number): number {
    return this.#chunks.get(chunk)?.entry.revision ?? 0;
  }

  /** What the view's members say of themselves; those whose key is gone are left out. */
  members(input: ControllerInput): Member[] {
    const present: Member[] = [];
    for (const { node } of this.view?.value.members ?? []) {
      const entry = input.get(input.keys.member(node));
      if (!entry) continue;
      let known = this.#members.get(node);
      if (known?.entry.revision !== entry.revision) {
        known = { entry, member: JSON.parse(entry.value) as Member };
        this.#members.set(node, known);
      }
      present.push(known.member);
    }
    return present;
  }

  #setView(entry: Entry, input: ControllerInput): void {
    const value = JSON.parse(entry.value) as View;
    const before = this.view?.value.parameters;
    this.view = { value, revision: entry.revision };
    this.version++;
    const { parameters } = value;
    for (const node of this.#members.keys())
      if (!value.members.some((member) => member.node === node)) this.#members.delete(node);
    if (before && JSON.stringify(before) === JSON.stringify(parameters)) return;
    this.shards = shardIds(parameters);
    this.replicas = parameters.replicas;
    this.replicaKeys = this.shards.flatMap((shard) =>
      Array.from({ length: parameters.replicas }, (_, r) => replicaKey(this.service, shard, r)),
    );
    this.names = this.replicaKeys.map((key) => key.slice(this.service.length + 1));
    this.#tenureKeys = this.replicaKeys.map((key) => input.keys.tenure(key));
    this.#tenureRevisions = this.replicaKeys.map(() => 0);
    this.holders = this.replicaKeys.map(() => undefined);
  }

  #lookAtTenures(input: ControllerInput): void {
    for (const [index, key] of this.#tenureKeys.entries()) {
      const entry = input.get(key);
      const revision = entry?.revision ?? 0;
      if (revision === this.#tenureRevisions[index]) continue;
      this.#tenureRevisions[index] = revision;
      const holder = entry && (JSON.parse(entry.value) as Tenure).node;
      if (holder !== this.holders[index]) this.version++;
      this.holders[index] = holder;
    }
  }

  #lookAtChunks(input: ControllerInput): void {
    const count = Math.ceil(this.shards.length / chunkShardsMax);
    const problems: string[] = [];
    // The service may have had more shards: chunks beyond its last are looked for until one is missing.
    for (let number = 0, more = true; number < count || more; number++) {
      const entry = input.get(input.keys.plan(this.service, number));
      more = entry !== undefined;
      const known = this.#chunks.get(number);
      if (!entry) {
        if (this.#chunks.delete(number)) this.version++;
        continue;
      }
      let chunk = known?.chunk;
      if (known?.entry.revision !== entry.revision) {
        const decoded = decodePlanChunk(entry.value);
        chunk = "problem" in decoded ? undefined : decoded;
        this.#chunks.set(number, { entry, chunk });
        this.version++;
      }
      if (!chunk) problems.push(`${entry.key} cannot be read`);
    }
    this.problems = problems;
  }
}
