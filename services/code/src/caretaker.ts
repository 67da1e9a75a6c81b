/**
 * What one node does for the whole fleet of the service, while it holds the catalogue's first replica: it wakes what rests when there is room for it
 * again, and tells a webhook when more or fewer nodes are wanted.
 */
import type { Clock, Timer } from "@keelson/kernel";
import { Autoscaler, type FleetFacts, type ScaleTerms } from "./autoscale.ts";
import type { RepositoryCatalogue } from "./catalogue.ts";
import type { Figures } from "./fleet-figures.ts";
import type { CodeMetrics } from "./metrics.ts";
import { busiest, leftLoads } from "./node-load.ts";
import type { Repository } from "./repository.ts";
import { ScaleWebhook } from "./scale-webhook.ts";

interface CaretakerPorts {
  readonly clock: Clock;
  readonly catalogue: RepositoryCatalogue;
  readonly metrics: CodeMetrics;
  readonly figures: Figures;
  readonly sizeOf: (id: number) => number;
  readonly claimLatencyMs: () => number;
  readonly scale: ScaleTerms & { readonly webhook?: string | undefined };
  readonly lookMs: number;
  readonly log: (message: string, details: Readonly<Record<string, unknown>>) => void;
}

/** Room must be there with something to spare, twice in a row, before a repository is woken for it. */
const spare = 1.25;
const wokenReason = "there is room again";

export class Caretaker {
  readonly #ports: CaretakerPorts;
  readonly #scaler: Autoscaler;
  readonly #webhook: ScaleWebhook;
  #timer: Timer | undefined;
  #stopped = false;
  #roomSeen = false;
  /** Who was woken last because there was room, as far as is not known whether there was. */
  #woken: number | undefined;
  /** What was free when a repository was woken for which there was no room after all: it lay in gaps, or on nodes that may not take it. As long as that has not changed, it would be so again. */
  readonly #inVain = new Map<number, number>();
  #claims = 0;

  constructor(ports: CaretakerPorts) {
    this.#ports = ports;
    this.#scaler = new Autoscaler(ports.scale);
    const { clock, scale, log } = ports;
    this.#webhook = new ScaleWebhook({ clock, url: scale.webhook, log });
    this.#arm();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#webhook.stop();
    this.#ports.metrics.set("code_scale_wish", 0);
  }

  #arm(): void {
    if (this.#stopped) return;
    this.#timer = this.#ports.clock.after(this.#ports.lookMs, () => {
      this.#look()
        .catch((error: unknown) => this.#ports.log("the fleet was not looked after", { why: String(error) }))
        .finally(() => this.#arm());
    });
  }

  async #look(): Promise<void> {
    await this.#wake();
    this.#scale();
    await this.#tidy();
  }

  /** One at a time: what it takes is known only when it is there. It is woken because there is room, so nothing makes room for it. */
  async #wake(): Promise<void> {
    const { catalogue, figures, sizeOf } = this.#ports;
    await this.#restAgain();
    const free = figures.freeBytesMax;
    for (const [id, then] of this.#inVain) if (then !== free) this.#inVain.delete(id);
    let fits: Repository | undefined;
    for (const id of figures.resting) {
      const row = catalogue.get(id);
      if (row?.state !== "resting" || sizeOf(id) * spare >= free || this.#inVain.has(id)) continue;
      if (!fits || compare(row, fits) < 0) fits = row;
    }
    const waiting = figures.unclaimed.size > 0;
    const room = fits !== undefined && !waiting;
    if (fits !== undefined && room && this.#roomSeen) {
      this.#woken = fits.id;
      await catalogue.edit([fits.id], (row) =>
        row.state === "resting" ? { ...row, state: "active", reason: wokenReason } : row,
      );
    }
    this.#roomSeen = room;
  }

  /** Lets what was woken rest again when nobody can take it. It would be a lot for ever, and a reason to wish for nodes, though nobody has asked for it. */
  async #restAgain(): Promise<void> {
    const { catalogue, figures, log } = this.#ports;
    const id = this.#woken;
    if (id === undefined) return;
    const unclaimed = [...figures.unclaimed.keys()].some((replica) => replica.startsWith(`${id}/`));
    if (!unclaimed) {
      if (!figures.resting.has(id)) this.#woken = undefined;
      return;
    }
    const demanded = figures.demand?.replicas.some((replica) => Number(replica.split("/")[1]) === id);
    if (demanded !== true) return;
    this.#woken = undefined;
    this.#inVain.set(id, figures.freeBytesMax);
    const [row] = await catalogue.edit([id], (found) =>
      found.state === "active" && found.reason === wokenReason
        ? { ...found, state: "resting", reason: "there was no room for it after all" }
        : found,
    );
    if (row) log("rests again: nobody has room for it", { repository: row.name });
  }

  #scale(): void {
    const { clock, metrics } = this.#ports;
    const facts = this.#facts();
    const wish = this.#scaler.judge(facts, clock.now());
    metrics.set("code_scale_wish", { up: 1, down: -1, none: 0 }[wish.direction]);
    this.#webhook.tell(wish, facts);
  }

  #facts(): FleetFacts {
    const { clock, catalogue, figures, claimLatencyMs } = this.#ports;
    const now = clock.now();
    // In the order in which nobody held them any more, so the first has waited longest.
    const [since = now] = figures.unclaimed.values();
    const claims = figures.claims - this.#claims;
    this.#claims = figures.claims;
    const { nodes, demand } = figures;
    return {
      unclaimed: figures.unclaimed.size,
      unclaimedMsMax: now - since,
      claimLatencyMs: claimLatencyMs(),
      saturation: figures.saturation,
      demanded: demand?.count ?? 0,
      demandedBytes: demand?.bytes ?? 0,
      cpu: busiest(nodes, catalogue.loads, clock.wall()),
      claims,
      nodes: nodes.length,
    };
  }

  /** One at a time is enough: nodes do not leave in crowds for long. */
  async #tidy(): Promise<void> {
    const { catalogue, clock, figures } = this.#ports;
    const [gone] = leftLoads(new Set(figures.nodes), catalogue.loads, clock.wall());
    if (gone !== undefined) await catalogue.load(gone, undefined);
  }
}

/** What is pinned first, then what was wanted last. */
function compare(a: Repository, b: Repository): number {
  return Number(b.pinned) - Number(a.pinned) || b.wantedAt - a.wantedAt || a.id - b.id;
}
