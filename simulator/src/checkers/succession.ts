import type { ReplicaKey, Tenure } from "@keelson/kernel";
import type { SimEvent } from "../events.ts";
import type { Checker, Scene } from "./checker.ts";

/**
 * A tenure is followed by another in three ways only, whatever was late or repeated on its way to the store: a grant where there was none, a hand-over by the node
 * that had it, and a re-stamp by the node that had it. Nobody else ever replaces a tenure. And it is written only while the era it names is open.
 */
export class SuccessionChecker implements Checker {
  readonly name = "succession";
  readonly hears = ["store-recovered", "store-changed"] as const;
  readonly #scene: Scene;
  /** What the store held before the change at hand. */
  readonly #before = new Map<ReplicaKey, Tenure>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  on(event: SimEvent): void {
    const { ledger } = this.#scene;
    if (event.kind === "store-recovered") {
      this.#before.clear();
      for (const [replica, { value }] of ledger.tenures) this.#before.set(replica, value);
      return;
    }
    if (event.kind !== "store-changed") return;
    for (const change of event.batch.changes) {
      const parsed = ledger.keys.parse(change.kind === "put" ? change.entry.key : change.key);
      if (parsed?.kind !== "tenure") continue;
      const replica = parsed.rest;
      const after = ledger.tenures.get(replica)?.value;
      if (after) this.#follows(replica, this.#before.get(replica), after);
      if (after) this.#before.set(replica, after);
      else this.#before.delete(replica);
    }
  }

  #underOpenEra(replica: ReplicaKey, { era, how, node }: Tenure): void {
    const record = this.#scene.ledger.era?.value;
    if (record?.era === era && record.phase === "open") return;
    const now = record ? `era ${record.era} is ${record.phase}` : "there is no era";
    this.#scene.report(this.name, replica, `a ${how} to ${node} under era ${era} was written, and ${now}`);
  }

  #follows(replica: ReplicaKey, before: Tenure | undefined, after: Tenure): void {
    this.#underOpenEra(replica, after);
    const was = before ? `${before.node}'s` : "nobody's";
    const wrong = (what: string): void => this.#scene.report(this.name, replica, `${what}; it was ${was}`);
    switch (after.how) {
      case "grant":
        if (before) wrong(`${after.node} granted itself what was held`);
        return;
      case "hand-over":
        if (before?.node !== after.from)
          wrong(`${after.from ?? "somebody"} handed over to ${after.node} what it did not hold`);
        return;
      case "re-stamp":
        if (before?.session !== after.session) wrong(`${after.node} re-stamped what it did not hold`);
        return;
    }
  }
}
