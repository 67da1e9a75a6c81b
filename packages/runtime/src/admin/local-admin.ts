/**
 * The fleet's admin in a process that has a copy of the store: a gateway, `keelson up`, or the command line with `--store`. Reads come from the
 * copy, writes go to the store as guarded commits and are tried again when the copy was behind.
 */
import {
  Keys,
  StoreError,
  replicaKey,
  terms as allTerms,
  type Clock,
  type Decision,
  type Placement,
  type Random,
  type Store,
  type Terms,
} from "@keelson/kernel";
import type { Mirror } from "../mirror/mirror.ts";
import * as actions from "./actions.ts";
import type { AskNode } from "./ask-node.ts";
import type {
  ActionDone,
  EventPage,
  EventQuery,
  Finding,
  FleetAdmin,
  FleetStatus,
  ForecastQuery,
  MoveOrder,
  NodeStatus,
  PinRequest,
  ReplicaState,
  ReplicaStatus,
  ServiceForecast,
  ShardExplanation,
  ShardFilter,
  ShardPage,
  Wisher,
} from "./contract.ts";
import { diagnose } from "./doctor.ts";
import { AdminError } from "./errors.ts";
import { EventLog } from "./event-log.ts";
import { explainShard } from "./explain.ts";
import { FleetFeed } from "./feed/feed.ts";
import type { FeedFrame, FeedQuery } from "./feed/frames.ts";
import { takeFacts, type FleetFacts } from "./facts.ts";
import { forecast } from "./forecast.ts";
import { Plans } from "./plans.ts";
import { shardPage, shardsPageMax } from "./shards.ts";
import { fleetStatus, nodeStatuses } from "./status.ts";

export interface LocalAdminOptions {
  readonly fleet: string;
  /** Started and stopped by whoever made it. */
  readonly mirror: Mirror;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** Placements of services that are not the kernel's own, by service. */
  readonly placements?: ReadonlyMap<string, Placement>;
  readonly terms?: Partial<Terms>;
  /** How to ask nodes; without it, what only they know is left out. */
  readonly ask?: AskNode;
}

/** Nodes asked at once: a fleet of a thousand must not open a thousand connections for one look. */
const ASKED_AT_ONCE = 32;
const COMMIT_TRIES = 5;
const RETRY_MS = 50;
/** How long the doctor lets things move before it calls them stuck. */
const SETTLE_MS = 2_000;
/** How long a request waits for the first listing. */
const READY_MS = 5_000;
const EVENT_WAIT_MS_MAX = 30_000;

export class LocalAdmin implements FleetAdmin {
  readonly #options: LocalAdminOptions;
  readonly #keys: Keys;
  readonly #plans: Plans;
  readonly #terms: Terms;
  readonly #events: EventLog;
  readonly #feed: FleetFeed;
  readonly #unfollow: () => void;

  constructor(options: LocalAdminOptions) {
    const { fleet, clock, random, mirror } = options;
    this.#options = options;
    this.#keys = new Keys(fleet);
    this.#plans = new Plans(options.placements);
    this.#terms = allTerms(options.terms);
    const id = Math.floor(random() * 2 ** 32).toString(16);
    this.#events = new EventLog({ clock, keys: this.#keys, id });
    this.#unfollow = this.#events.follow(mirror);
    this.#feed = new FleetFeed({
      keys: this.#keys,
      mirror,
      clock,
      plans: this.#plans,
      terms: this.#terms,
      events: this.#events,
      ask: options.ask,
      id,
    });
  }

  close(): void {
    this.#feed.close();
    this.#unfollow();
  }

  async status(): Promise<FleetStatus> {
    return this.#status(await this.#facts());
  }

  async nodes({ reports = false }: { readonly reports?: boolean } = {}): Promise<readonly NodeStatus[]> {
    const statuses = nodeStatuses(await this.#facts());
    const { ask } = this.#options;
    if (!reports || !ask) return statuses;
    return inTurns(statuses, async (status) => ({ ...status, report: await reportOf(ask, status) }));
  }

  async shards(filter: ShardFilter): Promise<ShardPage> {
    const facts = await this.#facts();
    if (filter.service !== undefined) actions.requireService(facts, filter.service);
    return shardPage(facts, this.#plans, this.#terms, filter);
  }

  async explain(service: string, shard: string): Promise<ShardExplanation> {
    const facts = await this.#facts();
    const view = actions.requireService(facts, service);
    const { image } = this.#options.mirror;
    const told = await this.#decisions(facts, service, shard);
    const found = explainShard(
      facts,
      this.#plans,
      this.#terms,
      image,
      { service, shard },
      (replica) => told.get(replica) ?? [],
    );
    if (!found) throw actions.noSuchShard(view, service, shard);
    return found;
  }

  async forecast(query: ForecastQuery): Promise<readonly ServiceForecast[]> {
    const facts = await this.#facts();
    if (query.service !== undefined) actions.requireService(facts, query.service);
    const services = query.service === undefined ? [...facts.views.keys()].sort() : [query.service];
    for (const node of query.without ?? [])
      if (!services.some((name) => facts.views.get(name)!.value.members.some((one) => one.node === node)))
        throw new AdminError("NO_SUCH_NODE", `${node} is in no view: nothing would change without it`);
    return services.map((service) =>
      forecast(facts, this.#plans, this.#options.mirror.image, query, service),
    );
  }

  async events(query: EventQuery): Promise<EventPage> {
    await this.#facts();
    const waitMs = Math.min(EVENT_WAIT_MS_MAX, query.waitMs ?? 0);
    return this.#events.wait({ ...query, waitMs });
  }

  feed(query: FeedQuery, signal: AbortSignal): AsyncIterable<FeedFrame> {
    return this.#feed.follow(query, signal);
  }

  async doctor(): Promise<readonly Finding[]> {
    const { clock } = this.#options;
    const first = await this.#troubled();
    const [store, nodes] = await Promise.all([this.#probe(), this.nodes({ reports: true })]);
    const askedAt = clock.wall();
    if (first.size > 0) await sleep(clock, SETTLE_MS);
    const second = await this.#troubled();
    const stuck = [...second].filter(([key, status]) => {
      const before = first.get(key);
      return before?.state === status.state && before.node === status.node;
    });
    return diagnose({
      status: await this.status(),
      nodes,
      stuck: stuck.map(([, status]) => status).filter(({ state }) => state !== "quarantined"),
      quarantined: [...second.values()].filter(({ state }) => state === "quarantined"),
      ...store,
      askedAt,
    });
  }

  drain(node: string, wisher: Wisher): Promise<ActionDone> {
    return this.#act((facts) => actions.drain(facts, node, wisher, this.#options.clock.wall()));
  }

  undrain(node: string): Promise<ActionDone> {
    return this.#act((facts) => actions.undrain(facts, node));
  }

  pin(pin: PinRequest, wisher: Wisher): Promise<ActionDone> {
    return this.#act((facts) => actions.pin(facts, pin, wisher, this.#options.clock.wall()));
  }

  unpin(pin: Omit<PinRequest, "node">): Promise<ActionDone> {
    return this.#act((facts) => actions.unpin(facts, pin));
  }

  move(order: MoveOrder, wisher: Wisher): Promise<ActionDone> {
    return this.#act((facts) => actions.move(facts, order, wisher, this.#options.clock.wall()));
  }

  retry(service: string, shard: string): Promise<ActionDone> {
    return this.#act((facts) => actions.retry(facts, service, shard));
  }

  #status(facts: FleetFacts): FleetStatus {
    const { image, live } = this.#options.mirror;
    const { revision, incarnation, size } = image;
    return fleetStatus(facts, this.#plans, this.#terms, {
      at: this.#options.clock.wall(),
      store: { live, revision, incarnation, keys: size },
    });
  }

  /** Waits a little for the first listing; after that, what is known is told, however old. */
  async #facts(): Promise<FleetFacts> {
    const { mirror, clock } = this.#options;
    const deadline = clock.now() + READY_MS;
    while (mirror.image.incarnation === undefined) {
      if (clock.now() >= deadline) {
        const why = mirror.trouble === undefined ? "" : ` (${mirror.trouble})`;
        throw new AdminError(
          "NOT_KNOWN_YET",
          `the store has not answered yet${why}: see that it runs, and ask again`,
        );
      }
      await sleep(clock, RETRY_MS);
    }
    return takeFacts(this.#keys, mirror.image);
  }

  async #act(intend: (facts: FleetFacts) => actions.Intended): Promise<ActionDone> {
    const { store, mirror, clock } = this.#options;
    for (let tries = 0; tries < COMMIT_TRIES; tries++) {
      const intended = intend(await this.#facts());
      // After a try whose outcome was not known, finding it done means that this one did it.
      if (!intended.commit) return { ...actions.asDone(intended), already: tries === 0 };
      const [write] = intended.commit.writes;
      const before = write && valueOf(mirror.image.get(write.key)?.value);
      const outcome = await this.#commit(store, intended.commit, mirror.image.incarnation);
      if (outcome?.kind === "committed") {
        const after = write?.kind === "put" ? valueOf(write.value) : null;
        return { ...actions.asDone(intended), change: { before, after } };
      }
      if (outcome?.kind === "incarnation") mirror.distrust();
      await sleep(clock, RETRY_MS * 2 ** tries);
    }
    throw new AdminError("CONFLICT", "others kept changing the same thing: look at it and ask again");
  }

  /** Undefined when the outcome is not known. What was written is in the copy before this resolves. */
  async #commit(
    store: Store,
    commit: NonNullable<actions.Intended["commit"]>,
    incarnation: string | undefined,
  ): Promise<Awaited<ReturnType<Store["commit"]>> | undefined> {
    if (incarnation === undefined) return undefined;
    const { mirror } = this.#options;
    try {
      const outcome = await store.commit(commit, { incarnation, timeoutMs: this.#terms.commitTimeoutMs });
      const { revision } = outcome;
      if (outcome.kind === "committed" && outcome.incarnation === mirror.image.incarnation)
        mirror.learn(
          revision,
          commit.writes.map((write) =>
            write.kind === "put"
              ? { kind: "put", entry: { key: write.key, value: write.value, revision } }
              : { kind: "delete", key: write.key, revision },
          ),
        );
      return outcome;
    } catch (error) {
      if (error instanceof StoreError && error.code === "STORE_UNKNOWN") return undefined;
      throw error;
    }
  }

  async #probe(): Promise<{ storeMs: number | string; clockMs: number | undefined }> {
    const { store, clock } = this.#options;
    const from = clock.now();
    const wall = clock.wall();
    try {
      const page = await store.range(this.#keys.era, { limit: 1, timeoutMs: this.#terms.commitTimeoutMs });
      const storeMs = clock.now() - from;
      return { storeMs, clockMs: page.serverTimeMs - wall - storeMs / 2 };
    } catch (error) {
      return { storeMs: error instanceof Error ? error.message : String(error), clockMs: undefined };
    }
  }

  /** Everything that is not simply held, up to a page of each kind. */
  async #troubled(): Promise<Map<string, ReplicaStatus>> {
    const facts = await this.#facts();
    const found = new Map<string, ReplicaStatus>();
    for (const state of ["unheld", "moving", "quarantined"] satisfies ReplicaState[]) {
      const page = shardPage(facts, this.#plans, this.#terms, { state, limit: shardsPageMax });
      for (const one of page.replicas) found.set(`${one.service}/${one.shard}/${one.replica}`, one);
    }
    return found;
  }

  /** What holders and contenders decided about each replica of the shard, oldest first. */
  async #decisions(facts: FleetFacts, service: string, shard: string): Promise<Map<string, Decision[]>> {
    const told = new Map<string, Decision[]>();
    const { ask } = this.#options;
    const view = facts.views.get(service)?.value;
    if (!ask || !view) return told;
    const addresses = new Set<string>();
    const replicas = Array.from({ length: view.parameters.replicas }, (_, n) =>
      replicaKey(service, shard, n),
    );
    for (const replica of replicas) {
      const tenure = facts.tenures.get(replica);
      if (tenure) addresses.add(tenure.value.address);
      for (const { value } of facts.contenders.get(replica)?.values() ?? []) addresses.add(value.address);
      for (const node of this.#plans.of(facts, service)?.lines.get(replica)?.candidates.slice(0, 1) ?? []) {
        const address = facts.members.get(node)?.value.address;
        if (address !== undefined) addresses.add(address);
      }
    }
    const asked = [...addresses].flatMap((address) => replicas.map((replica) => ({ address, replica })));
    await inTurns(asked, async ({ address, replica }) => {
      // A node that does not answer has nothing to say here; `nodes` and `doctor` tell that it is silent.
      const decisions = await ask.decisions(address, replica).catch((): Decision[] => []);
      told.set(
        replica,
        [...(told.get(replica) ?? []), ...decisions].sort((a, b) => a.at - b.at),
      );
    });
    return told;
  }
}

/** A key's value as what it says; null when there is none. */
function valueOf(value: string | undefined): unknown {
  return value === undefined ? null : (JSON.parse(value) as unknown);
}

async function reportOf(ask: AskNode, { address }: NodeStatus): Promise<NonNullable<NodeStatus["report"]>> {
  try {
    return await ask.report(address);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

/** Like Promise.all over the items, a few at a time. */
async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += ASKED_AT_ONCE)
    results.push(...(await Promise.all(items.slice(at, at + ASKED_AT_ONCE).map(work))));
  return results;
}
