import type { SimEvent } from "../events.ts";
import type { Checker, Scene } from "./checker.ts";

/** Invariant 7: when nothing has been wrong for long enough, every node that runs is a member, and every replica is live on the first candidate of its plan. */
export class ConvergedChecker implements Checker {
  readonly name = "converged";
  readonly hears = ["settled"] as const;
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  on(event: SimEvent): void {
    if (event.kind !== "settled") return;
    const { nodes, ledger, service } = this.#scene;
    const view = ledger.views.get(service.name)?.value;
    if (!view) return this.#scene.report(this.name, service.name, "there is no view");
    const members = new Set(view.members.map(({ node }) => node));
    for (const node of nodes)
      if (node.up && !members.has(node.name))
        this.#scene.report(this.name, node.name, `it runs, and view ${view.n} does not have it`);
    for (const [replica, line] of service.plan(view).lines) {
      const wanted = line.candidates[0];
      if (wanted === undefined) continue;
      const holders = nodes.filter((node) => node.up && node.check(replica)).map((node) => node.name);
      if (holders.length === 1 && holders[0] === wanted) continue;
      this.#scene.report(
        this.name,
        replica,
        `${this.#describe(replica, holders)}; view ${view.n} wants it on ${wanted}`,
      );
    }
    if (service.parameters.primary === true) this.#primaries();
  }

  #primaries(): void {
    const { nodes, service } = this.#scene;
    for (const shard of new Set(
      service.replicas.map((replica) => replica.slice(0, replica.lastIndexOf("/"))),
    )) {
      const writers = nodes.filter((node) => node.up && node.checkWrite(shard));
      if (writers.length !== 1)
        this.#scene.report(this.name, shard, `${writers.length} nodes admit its writes`);
    }
  }

  #describe(replica: string, holders: readonly string[]): string {
    if (holders.length > 0) return `it is live on ${holders.join(" and ")}`;
    const tenure = this.#scene.ledger.tenures.get(replica)?.value;
    if (!tenure) return "nobody holds it";
    const node = this.#scene.nodes.find((each) => each.name === tenure.node);
    const phase = node?.up ? [...node.held()].find((each) => each.replica === replica)?.phase : "not running";
    return `${tenure.node} has its tenure and does not serve it (${phase ?? "does not know of it"})`;
  }
}
