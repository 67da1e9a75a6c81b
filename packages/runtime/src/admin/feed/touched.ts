/**
 * What changes of keys are about, noted until the next frame is made: a key that changed ten times since is looked at once. It also keeps the few things
 * that must be found backwards: who contends for a replica, who bids for it, who passed.
 */
import {
  parseAuctionKey,
  readRecordText,
  type Entry,
  type ImageChange,
  type Keys,
  type ReplicaKey,
} from "@keelson/kernel";

/** By replica, the nodes that have a key of some kind about it. */
type NodesOf = Map<ReplicaKey, Set<string>>;

export class Touched {
  readonly replicas = new Set<ReplicaKey>();
  /** `service/shard`: all replicas of it. */
  readonly shards = new Set<string>();
  readonly nodes = new Set<string>();
  /** Services whose view changed, and those whose plan did. */
  readonly views = new Set<string>();
  readonly plans = new Set<string>();
  readonly lots = new Set<ReplicaKey>();
  readonly footprints = new Set<string>();
  /** `service/node`. */
  readonly loads = new Set<string>();
  wishes = false;
  status = false;

  readonly contenders: NodesOf = new Map();
  readonly bidders: NodesOf = new Map();
  readonly passes: NodesOf = new Map();
  /** Chunks of stored plans, by service and key. */
  readonly planEntries = new Map<string, Map<string, Entry>>();
  /** What operators wished, by key. */
  readonly wishEntries = new Map<string, Entry>();

  readonly #keys: Keys;

  constructor(keys: Keys) {
    this.#keys = keys;
  }

  note({ key, entry, before }: ImageChange): void {
    const parsed = this.#keys.parse(key);
    if (!parsed) return;
    const { kind, rest } = parsed;
    switch (kind) {
      case "tenure":
        this.replicas.add(rest);
        break;
      case "contender": {
        const slash = rest.lastIndexOf("/");
        const replica = rest.slice(0, slash);
        mark(this.contenders, replica, rest.slice(slash + 1), entry !== undefined);
        this.replicas.add(replica);
        break;
      }
      case "trouble":
        this.shards.add(rest);
        break;
      case "member":
        this.nodes.add(rest);
        break;
      case "view":
        this.views.add(rest);
        break;
      case "plan":
        this.#plan(rest.slice(0, rest.indexOf("/")), key, entry);
        break;
      case "operator":
        this.wishes = true;
        if (entry) this.wishEntries.set(key, entry);
        else this.wishEntries.delete(key);
        if (rest.startsWith("drain/")) this.nodes.add(rest.slice("drain/".length));
        break;
      case "fleet":
        this.status = true;
        for (const one of [entry, before]) {
          const { node } = (one ? JSON.parse(one.value) : {}) as { readonly node?: unknown };
          if (typeof node === "string") this.nodes.add(node);
        }
        break;
      case "auction":
        this.#auction(rest, entry, before);
        break;
      case "balance": {
        const [service = "", part, node] = rest.split("/");
        if (part === "load" && node !== undefined) this.loads.add(`${service}/${node}`);
        break;
      }
      case "primary":
      case "catalogue":
        break;
    }
  }

  #plan(service: string, key: string, entry: Entry | undefined): void {
    let chunks = this.planEntries.get(service);
    if (!chunks) this.planEntries.set(service, (chunks = new Map<string, Entry>()));
    if (entry) chunks.set(key, entry);
    else chunks.delete(key);
    this.plans.add(service);
  }

  #auction(rest: string, entry: Entry | undefined, before: Entry | undefined): void {
    const { service, part, about } = parseAuctionKey(rest);
    switch (part) {
      case "bidder":
        for (const one of [before, entry])
          for (const { replica } of (one && readRecordText("bidder", one.value).value?.bid?.lots) ?? []) {
            mark(this.bidders, replica, about, one === entry);
            this.lots.add(replica);
          }
        this.nodes.add(about);
        break;
      case "pass": {
        const slash = about.lastIndexOf("/");
        const replica = `${service}/${about.slice(0, slash)}`;
        mark(this.passes, replica, about.slice(slash + 1), entry !== undefined);
        this.lots.add(replica);
        break;
      }
      case "round":
      case "award":
      case "move":
        this.lots.add(`${service}/${about}`);
        break;
      case "footprint":
        this.footprints.add(`${service}/${about}`);
        break;
      case "config":
      case "override":
      case "evaluator":
      case "demand":
        break;
    }
  }
}

function mark(index: NodesOf, replica: ReplicaKey, node: string, there: boolean): void {
  const nodes = index.get(replica);
  if (there) {
    if (nodes) nodes.add(node);
    else index.set(replica, new Set([node]));
  } else if (nodes?.delete(node) === true && nodes.size === 0) index.delete(replica);
}
