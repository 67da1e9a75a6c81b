/** A stage for tests of checkers: nodes, a ledger and a clock that a test sets as it likes. */

import { Keys, replicaKey, ring, terms, type Epoch, type ReplicaKey, type Tenure } from "@keelson/kernel";
import type { SimEvent } from "../events.ts";
import { Ledger } from "../ledger.ts";
import { Resources } from "../resource.ts";
import type { Checker, NodeProbe, Scene } from "./checker.ts";

/** A node that passes for exactly what a test says. */
export class FakeNode implements NodeProbe {
  readonly name: string;
  up = true;
  paused = false;
  readonly passes = new Set<string>();
  readonly writes = new Set<string>();

  constructor(name: string) {
    this.name = name;
  }

  check(replica: ReplicaKey): boolean {
    return this.passes.has(replica);
  }

  checkWrite(shard: string): boolean {
    return this.writes.has(shard);
  }

  held(): Iterable<{ readonly replica: ReplicaKey; readonly phase: string }> {
    return [...this.passes].map((replica) => ({ replica, phase: "live" }));
  }
}

export const SERVICE = "kv";
export const R0: ReplicaKey = replicaKey(SERVICE, "0", 0);
export const R1: ReplicaKey = replicaKey(SERVICE, "1", 0);

export const epoch = (revision: number, era = 1): Epoch => ({ era, revision });

export class Stage {
  readonly nodes = [new FakeNode("a"), new FakeNode("b"), new FakeNode("c")];
  readonly keys = new Keys("test");
  readonly ledger = new Ledger(this.keys);
  readonly resources = new Resources((event) => this.tell(event), { checksEpochs: false });
  readonly reports: string[] = [];
  readonly terms = terms();
  nowMs = 0;
  sessions = 0;
  readonly scene: Scene;
  #checker: Checker | undefined;
  #soon: (() => void)[] = [];
  #revision = 0;

  constructor(primary = false) {
    const parameters = { shards: 2, replicas: primary ? 2 : 1, primary, placement: {} };
    const placement = ring({ service: SERVICE });
    const replicas = primary ? [R0, R1, replicaKey(SERVICE, "0", 1), replicaKey(SERVICE, "1", 1)] : [R0, R1];
    this.scene = {
      now: () => this.nowMs,
      nodes: this.nodes,
      ledger: this.ledger,
      resources: this.resources,
      terms: this.terms,
      service: {
        name: SERVICE,
        parameters,
        placement,
        plan: (view) => placement.plan(view, this.ledger.chunks(SERVICE)),
        replicas,
        openMsMax: 100,
      },
      entries: () => [],
      sessionsOpened: () => this.sessions,
      driftMax: 0,
      soon: (run) => void this.#soon.push(run),
      report: (_checker, subject, text) => void this.reports.push(`${subject}: ${text}`),
    };
  }

  watch(checker: Checker): this {
    this.#checker = checker;
    return this;
  }

  /** Tells the checker, if it listens for such events, and then does what it put off. */
  tell(event: SimEvent): void {
    if (this.#checker?.hears.includes(event.kind) === true) this.#checker.on(event);
    for (const run of this.#soon.splice(0)) run();
  }

  node(name: string): FakeNode {
    const found = this.nodes.find((node) => node.name === name);
    if (!found) throw new Error(`no node ${name}`);
    return found;
  }

  decide(
    node: string,
    kind: "live" | "draining" | "leaving" | "failed",
    replica?: ReplicaKey,
    at?: Epoch,
  ): void {
    const decision = {
      at: 0,
      node,
      kind,
      reason: "",
      ...(replica === undefined ? {} : { replica }),
      ...(at === undefined ? {} : { epoch: at }),
    };
    this.tell({ kind: "decision", node, decision });
  }

  /** Of the last change. */
  get revision(): number {
    return this.#revision;
  }

  put(key: string, value: object, session?: string): void {
    const revision = ++this.#revision;
    const entry = { key, revision, session, value: JSON.stringify(value) };
    this.#changed([{ kind: "put", entry }]);
  }

  /** Several keys in one commit. */
  putAll(values: readonly (readonly [key: string, value: object])[]): void {
    const revision = ++this.#revision;
    this.#changed(
      values.map(([key, value]) => ({
        kind: "put",
        entry: { key, revision, session: undefined, value: JSON.stringify(value) },
      })),
    );
  }

  remove(key: string): void {
    this.#changed([{ kind: "delete", key, revision: ++this.#revision }]);
  }

  tenure(replica: ReplicaKey, node: string, how: Tenure["how"] = "grant", from?: string): void {
    const value = {
      v: 1,
      node,
      boot: `${node}-boot`,
      session: `${node}-session`,
      era: 1,
      how,
      address: "",
      reason: "",
      since: 0,
    };
    this.put(this.keys.tenure(replica), from === undefined ? value : { ...value, from });
  }

  member(node: string, session = "s1"): void {
    this.put(this.keys.member(node), { node, boot: `${node}-boot` }, session);
  }

  view(n: number, ...members: string[]): void {
    const { parameters, placement } = this.scene.service;
    const value = {
      v: 1,
      n,
      members: members.map((node) => ({ node, zone: "", weight: 1 })),
      parameters,
      algorithm: placement.algorithm,
      reason: "",
    };
    this.put(this.keys.view(SERVICE), value);
  }

  era(phase: "open" | "closed"): void {
    this.put(this.keys.era, { era: 1, incarnation: "i1", phase });
  }

  #changed(changes: Parameters<Ledger["apply"]>[0]["changes"]): void {
    const batch = { revision: this.#revision, incarnation: "i1", changes };
    this.ledger.apply(batch);
    this.tell({ kind: "store-changed", batch });
  }
}
