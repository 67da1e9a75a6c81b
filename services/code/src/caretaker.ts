/**
 * What one node does for the whole fleet of the service, while it holds the catalogue's first replica: it wakes what rests when there is room for it
 * again, and tells a webhook when more or fewer nodes are wanted.
 */
import type { Clock, Timer } from "@keelson/kernel";
import { Autoscaler, type FleetFacts, type ScaleTerms } from "./autoscale.ts";
import { editsMax, type RepositoryCatalogue } from "./catalogue.ts";
import type { Durations, Figures } from "./fleet-figures.ts";
import type { CodeMetrics } from "./metrics.ts";
import { busiest, leftLoads, sharedUse } from "./node-load.ts";
import type { Repository } from "./repository.ts";
import { ScaleWebhook } from "./scale-webhook.ts";

interface CaretakerPorts {
  readonly clock: Clock;
  readonly catalogue: RepositoryCatalogue;
  readonly metrics: CodeMetrics;
  readonly figures: Figures;
  readonly sizeOf: (id: number) => number;
  readonly scale: ScaleTerms & { readonly webhook?: string | undefined };
  readonly lookMs: number;
  readonly log: (message: string, details: Readonly<Record<string, unknown>>) => void;
}

/** Room must be there with something to spare, twice in a row, before a repository is woken for it. */
const spare = 1.25;
const wokenReason = "there is room again";
/** What was woken in vain is tried again when so much more is free than then, or after a while: what is free somewhere may lie otherwise. */
const moreShare = 1.1;
const tryAgainMs = 600_000;
/** What was asked for so lately does not rest again, whoever woke it. */
const inUseMs = 600_000;
/** How long a claim takes is the mean of so long: most looks see none, and a wish for the moment of one would be missed by whoever reads the metric. */
const claimsMs = 60_000;

export class Caretaker {
  readonly #ports: CaretakerPorts;
  readonly #scaler: Autoscaler;
  readonly #webhook: ScaleWebhook;
  #timer: Timer | undefined;
  #stopped = false;
  #roomSeen = false;
  /** Who was woken last because there was room, and how much, as far as is not known whether there was. */
  #woken: { readonly id: number; readonly freeBytes: number } | undefined;
  /** For which repositories there was no room after all when they were woken: what was free lay in gaps, or on nodes that may not take it. Soon it would be so again. */
  readonly #inVain = new Map<number, { readonly freeBytes: number; readonly at: number }>();
  #claims = 0;
  /** What was known of claims at each look of the last while, oldest first. */
  readonly #claimsSeen: { readonly at: number; readonly latency: Durations }[] = [];

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
    const { catalogue, clock, figures, sizeOf } = this.#ports;
    await this.#restAgain();
    const free = figures.freeBytesMax;
    for (const [id, { freeBytes, at }] of this.#inVain)
      if (free >= freeBytes * moreShare || clock.now() - at >= tryAgainMs) this.#inVain.delete(id);
    let fits: Repository | undefined;
    for (const id of figures.resting) {
      const row = catalogue.get(id);
      if (row?.state !== "resting" || sizeOf(id) * spare >= free || this.#inVain.has(id)) continue;
      if (!fits || compare(row, fits) < 0) fits = row;
    }
    const waiting = figures.unclaimed.size > 0;
    const room = fits !== undefined && !waiting;
    if (fits !== undefined && room && this.#roomSeen) {
      this.#woken = { id: fits.id, freeBytes: free };
      await catalogue.edit([fits.id], (row) =>
        row.state === "resting" ? { ...row, state: "active", reason: wokenReason } : row,
      );
    }
    this.#roomSeen = room;
  }

  /**
   * Lets what was woken rest again when nobody can take it, whoever looked after the fleet then. It would be a lot for ever, and a reason to wish for nodes and to wake nothing else, though nobody
   * has asked for it.
   */
  async #restAgain(): Promise<void> {
    const { catalogue, clock, figures, log } = this.#ports;
    if (this.#woken && this.#isClaimed(this.#woken.id)) this.#woken = undefined;
    const demanded = new Set<number>();
    for (const replica of figures.demand?.replicas ?? []) {
      const [, id, n] = replica.split("/");
      if (figures.unclaimed.has(`${id}/${n}`) && this.#isInVain(Number(id))) demanded.add(Number(id));
    }
    if (demanded.size === 0) return;
    const ids = [...demanded].slice(0, editsMax);
    for (const id of ids) {
      // Before it was woken: where it has some of its replicas, less is free now.
      const freeBytes = this.#woken?.id === id ? this.#woken.freeBytes : figures.freeBytesMax;
      this.#inVain.set(id, { freeBytes, at: clock.now() });
    }
    const rested = await catalogue.edit(ids, (row) =>
      row.state === "active" && row.reason === wokenReason
        ? { ...row, state: "resting", reason: "there was no room for it after all" }
        : row,
    );
    for (const { name } of rested) log("rests again: nobody has room for it", { repository: name });
  }

  #isClaimed(id: number): boolean {
    const { unclaimed, resting } = this.#ports.figures;
    if (resting.has(id)) return false;
    for (const replica of unclaimed.keys()) if (replica.startsWith(`${id}/`)) return false;
    return true;
  }

  /** It was woken, and nobody has asked for it since, as far as holders told. */
  #isInVain(id: number): boolean {
    const { catalogue, clock } = this.#ports;
    const row = catalogue.get(id);
    if (row?.state !== "active" || row.reason !== wokenReason) return false;
    if (this.#woken?.id === id) return true;
    const served = Array.from(catalogue.records(id).values(), ({ lastServedAt }) => lastServedAt);
    return served.every((at) => clock.wall() - at >= inUseMs);
  }

  #scale(): void {
    const { clock, metrics } = this.#ports;
    const facts = this.#facts();
    const wish = this.#scaler.judge(facts, clock.now());
    metrics.set("code_scale_wish", { up: 1, down: -1, none: 0 }[wish.direction]);
    this.#webhook.tell(wish, facts);
  }

  #facts(): FleetFacts {
    const { clock, catalogue, figures } = this.#ports;
    const now = clock.now();
    // In the order in which nobody held them any more, so the first has waited longest.
    const [since = now] = figures.unclaimed.values();
    const claims = figures.claims - this.#claims;
    this.#claims = figures.claims;
    const { nodes, demand } = figures;
    return {
      unclaimed: figures.unclaimed.size,
      unclaimedMsMax: now - since,
      claimLatencyMs: this.#claimLatencyMs(now),
      saturation: figures.saturation,
      demanded: demand?.count ?? 0,
      demandedBytes: demand?.bytes ?? 0,
      cpu: busiest(nodes, catalogue.loads, clock.wall()),
      processors: sharedUse(nodes, catalogue.loads, clock.wall()),
      claims,
      nodes: nodes.length,
    };
  }

  #claimLatencyMs(now: number): number {
    const { claimLatency } = this.#ports.figures;
    const seen = this.#claimsSeen;
    seen.push({ at: now, latency: claimLatency });
    while (now - seen[0]!.at > claimsMs) seen.shift();
    const { sumMs, count } = seen[0]!.latency;
    return claimLatency.count > count ? (claimLatency.sumMs - sumMs) / (claimLatency.count - count) : 0;
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
