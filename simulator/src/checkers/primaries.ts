import type { SimEvent } from "../events.ts";
import type { Checker, Scene } from "./checker.ts";

/** A primary never stands without its tenure: whatever is written, the replica that a primary key names is held under the same session, at every revision. Otherwise nobody could write, and nobody could promote. */
export class PrimariesChecker implements Checker {
  readonly name = "primaries";
  readonly hears = ["store-changed"] as const;
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  on(event: SimEvent): void {
    if (event.kind !== "store-changed") return;
    const { ledger } = this.#scene;
    const shards = new Set<string>();
    for (const change of event.batch.changes) {
      const parsed = ledger.keys.parse(change.kind === "put" ? change.entry.key : change.key);
      if (parsed?.kind === "primary") shards.add(parsed.rest);
      else if (parsed?.kind === "tenure") shards.add(parsed.rest.slice(0, parsed.rest.lastIndexOf("/")));
    }
    for (const shard of shards) this.#look(shard);
  }

  #look(shard: string): void {
    const { ledger } = this.#scene;
    const primary = ledger.primaries.get(shard)?.value;
    if (!primary) return;
    const tenure = ledger.tenures.get(`${shard}/${primary.replica}`)?.value;
    if (tenure?.session === primary.session) return;
    const whose = tenure ? `${tenure.node}'s` : "nobody's";
    this.#scene.report(
      this.name,
      shard,
      `${primary.node} is primary by replica ${primary.replica}, whose tenure is ${whose}`,
    );
  }
}
