import type { ReplicaKey } from "@keelson/kernel";
import type { SimEvent } from "../events.ts";
import type { Checker, Scene } from "./checker.ts";

/**
 * Promise 1: no two nodes' admission checks for one replica pass at one true instant, and no two nodes' write checks for one shard.
 *
 * A check can begin to pass only when a replica becomes live, when a renewal is confirmed or when a paused process goes on; time alone only makes it fail. So it is
 * enough to ask every node at those instants; asking at every admission too costs little and assumes less. Paused processes are asked as well: they would go on from here.
 *
 * While a store that lost writes has not said so, nothing can keep this promise (the new holder cannot know of the old one), and fencing is what protects: the checker looks away
 * from the loss until the next era opens.
 */
export class OverlapChecker implements Checker {
  readonly name = "overlap";
  readonly hears = ["decision", "admitted", "regained", "store-recovered", "store-changed"] as const;
  readonly #scene: Scene;
  #blind = false;
  /** Subjects reported at the present instant, so that one overlap is one violation. */
  readonly #reported = new Map<string, number>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  on(event: SimEvent): void {
    switch (event.kind) {
      case "decision": {
        const { kind, replica } = event.decision;
        if (replica === undefined) return;
        if (kind === "live") this.#scene.soon(() => this.#replica(replica));
        else if (kind === "promoted") this.#scene.soon(() => this.#shard(shardOf(replica)));
        return;
      }
      case "admitted":
        this.#replica(event.replica);
        if (event.mode === "write") this.#shard(event.shard);
        return;
      case "regained":
        return this.#node(event.node);
      case "store-recovered":
        if (event.recovery.kind === "lost-silently") this.#blind = true;
        return;
      case "store-changed":
        if (this.#blind && opensEra(event.batch.changes, this.#scene.ledger.keys.era)) this.#blind = false;
        return;
      default:
    }
  }

  #node(name: string): void {
    const node = this.#scene.nodes.find((each) => each.name === name);
    if (!node?.up) return;
    for (const { replica } of node.held()) {
      this.#replica(replica);
      if (this.#scene.service.parameters.primary === true) this.#shard(shardOf(replica));
    }
  }

  #replica(replica: ReplicaKey): void {
    this.#atMostOne(replica, "admit", (node) => node.check(replica));
  }

  #shard(shard: string): void {
    if (this.#scene.service.parameters.primary === true)
      this.#atMostOne(shard, "admit writes of", (node) => node.checkWrite(shard));
  }

  #atMostOne(subject: string, verb: string, passes: (node: Scene["nodes"][number]) => boolean): void {
    if (this.#blind) return;
    const now = this.#scene.now();
    let first: string | undefined;
    for (const node of this.#scene.nodes) {
      if (!node.up || !passes(node)) continue;
      if (first === undefined) {
        first = node.name;
        continue;
      }
      if (now - (this.#reported.get(subject) ?? -Infinity) < reportEveryMs) return;
      this.#reported.set(subject, now);
      this.#scene.report(
        this.name,
        subject,
        `${first} and ${node.name} both ${verb} it${node.paused ? " (the second is paused)" : ""}`,
      );
      return;
    }
  }
}

/** An overlap that lasts is reported once in this time. */
const reportEveryMs = 1_000;

function shardOf(replica: ReplicaKey): string {
  return replica.slice(0, replica.lastIndexOf("/"));
}

function opensEra(
  changes: readonly { kind: string; entry?: { key: string; value: string } }[],
  eraKey: string,
): boolean {
  return changes.some(
    ({ entry }) => entry?.key === eraKey && (JSON.parse(entry.value) as { phase: string }).phase === "open",
  );
}
