import type { SimEvent } from "../events.ts";
import type { Checker, Scene } from "./checker.ts";

/** Leaving is final for the process: once a node has begun to leave, its member key is never bound to a membership session that was opened after that. */
export class LeavingChecker implements Checker {
  readonly name = "leaving";
  readonly hears = ["node", "decision", "store-changed"] as const;
  readonly #scene: Scene;
  /** By node: which process is leaving, and the number of the last session opened by anyone when it began. */
  readonly #leaving = new Map<string, { readonly boot: string | undefined; readonly session: number }>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  on(event: SimEvent): void {
    const { ledger } = this.#scene;
    if (event.kind === "node") this.#leaving.delete(event.node);
    else if (event.kind === "decision" && event.decision.kind === "leaving")
      this.#leaving.set(event.node, {
        boot: ledger.members.get(event.node)?.value.boot,
        session: this.#scene.sessionsOpened(),
      });
    else if (event.kind === "store-changed")
      for (const change of event.batch.changes)
        if (change.kind === "put" && ledger.keys.parse(change.entry.key)?.kind === "member")
          this.#joined(ledger.keys.parse(change.entry.key)?.rest ?? "", change.entry.session);
  }

  #joined(node: string, session: string | undefined): void {
    const leaving = this.#leaving.get(node);
    if (!leaving || session === undefined || Number(session.slice(1)) <= leaving.session) return;
    const boot = this.#scene.ledger.members.get(node)?.value.boot;
    if (leaving.boot !== undefined && boot !== leaving.boot) return;
    this.#scene.report(this.name, node, `it is leaving, and joined again under session ${session}`);
  }
}
