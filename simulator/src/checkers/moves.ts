import { moves, type Plan, type ReplicaKey } from "@keelson/kernel";
import type { SimEvent } from "../events.ts";
import type { Checker, Scene } from "./checker.ts";

/**
 * Nothing moves without a reason. Every move of a tenure from one node to another must be paid for: by a plan that differs from the last one (one move a replica), or by a tenure that
 * ended otherwise than by a hand-over (two: someone takes over, and hands it to where the plan wants it). The account is looked at whenever the fleet has settled.
 */
export class MovesChecker implements Checker {
  readonly name = "moves";
  readonly hears = ["settled", "store-recovered", "store-changed"] as const;
  readonly #scene: Scene;
  readonly #lastHolder = new Map<ReplicaKey, string>();
  #plan: Plan | undefined;
  #moves = 0;
  #paid = 0;
  #reportedAt = 0;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  get moves(): number {
    return this.#moves;
  }

  on(event: SimEvent): void {
    if (event.kind === "settled") return this.#settled();
    if (event.kind === "store-recovered") {
      this.#paid += 2 * this.#scene.service.replicas.length;
      return;
    }
    if (event.kind !== "store-changed") return;
    const { keys } = this.#scene.ledger;
    for (const change of event.batch.changes) {
      const key = change.kind === "put" ? change.entry.key : change.key;
      const parsed = keys.parse(key);
      if (parsed?.kind === "tenure") this.#tenure(parsed.rest, change.kind);
      else if (key === keys.view(this.#scene.service.name) || parsed?.kind === "plan") this.#planned();
    }
  }

  #tenure(replica: ReplicaKey, kind: "put" | "delete"): void {
    if (kind === "delete") {
      this.#paid += 2;
      return;
    }
    const node = this.#scene.ledger.tenures.get(replica)?.value.node;
    if (node === undefined) return;
    const before = this.#lastHolder.get(replica);
    if (before !== undefined && before !== node) this.#moves++;
    this.#lastHolder.set(replica, node);
  }

  #planned(): void {
    const { ledger, service } = this.#scene;
    const view = ledger.views.get(service.name)?.value;
    if (!view) return;
    const plan = service.plan(view);
    if (this.#plan) this.#paid += moves(this.#plan, plan).length;
    this.#plan = plan;
  }

  #settled(): void {
    const allowed = Math.ceil(this.#paid * (1 + slackShare)) + this.#scene.service.replicas.length;
    if (this.#moves <= allowed || this.#moves <= this.#reportedAt) return;
    this.#reportedAt = this.#moves * 2;
    this.#scene.report(
      this.name,
      this.#scene.service.name,
      `${this.#moves} moves; plans and losses called for ${this.#paid}, and with the slack for ${allowed}`,
    );
  }
}

/** A takeover by a lower rank that overlaps a change of plan may cost one move more than either alone. */
const slackShare = 0.05;
