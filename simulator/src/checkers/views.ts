import type { SimEvent } from "../events.ts";
import type { Checker, Scene } from "./checker.ts";

/**
 * Invariant 6: views change only for a reason. A view never removes a member whose key stands at that very revision, and there are no more views than changes of
 * member keys can call for: at most one for each key that came, changed or went, and one for each era.
 */
export class ViewsChecker implements Checker {
  readonly name = "views";
  readonly hears = ["store-recovered", "store-changed"] as const;
  readonly #scene: Scene;
  /** The members of the last view seen, with the boot each had when it was last in a view. */
  #members = new Map<string, string>();
  #views = 0;
  #reasons = 1;
  #reported = false;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  get views(): number {
    return this.#views;
  }

  on(event: SimEvent): void {
    if (event.kind === "store-recovered") {
      this.#members = this.#bootsOf(
        this.#scene.ledger.views.get(this.#scene.service.name)?.value.members ?? [],
      );
      this.#reasons += this.#scene.nodes.length + 1;
      return;
    }
    if (event.kind !== "store-changed") return;
    const { keys } = this.#scene.ledger;
    for (const change of event.batch.changes) {
      const key = change.kind === "put" ? change.entry.key : change.key;
      if (key === keys.view(this.#scene.service.name)) this.#view();
      else if (key === keys.era || keys.parse(key)?.kind === "member") this.#reasons++;
    }
  }

  /** Requires that the ledger already has the view. */
  #view(): void {
    const { ledger, service } = this.#scene;
    const view = ledger.views.get(service.name)?.value;
    if (!view) return;
    this.#views++;
    const members = this.#bootsOf(view.members);
    for (const [node, boot] of this.#members) {
      if (members.has(node) || ledger.members.get(node)?.value.boot !== boot) continue;
      this.#scene.report(
        this.name,
        node,
        `view ${view.n} removes it, and its member key never lapsed (${view.reason})`,
      );
    }
    this.#members = members;
    if (this.#views > this.#reasons && !this.#reported) {
      this.#reported = true;
      this.#scene.report(
        this.name,
        service.name,
        `${this.#views} views for ${this.#reasons} changes of membership`,
      );
    }
  }

  #bootsOf(members: readonly { readonly node: string }[]): Map<string, string> {
    return new Map(
      members.map(({ node }) => [node, this.#scene.ledger.members.get(node)?.value.boot ?? "unknown"]),
    );
  }
}
