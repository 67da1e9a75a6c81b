/**
 * The one place that knows how keys are spelled. Every key of a fleet lies under `/keelson/<fleet>/`, readable with
 * `etcdctl`, `redis-cli` or SQL; ids with unusual characters are percent-encoded, so a key always splits at its slashes.
 */

/** Names one replica of one shard of one service, everywhere in the kernel: `service/shard/replica`, already encoded. */
export type ReplicaKey = string;

const PLAIN = /^[A-Za-z0-9._~-]+$/;

/** Makes any id a safe key segment. Fleet, node and service names are validated to be plain; shard ids may be anything. */
export function encodeSegment(id: string): string {
  return PLAIN.test(id)
    ? id
    : encodeURIComponent(id).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

export function decodeSegment(segment: string): string {
  return segment.includes("%") ? decodeURIComponent(segment) : segment;
}

export function replicaKey(service: string, shard: string, replica: number): ReplicaKey {
  return `${service}/${encodeSegment(shard)}/${replica}`;
}

export interface ReplicaId {
  readonly service: string;
  readonly shard: string;
  readonly replica: number;
}

export function parseReplicaKey(key: ReplicaKey): ReplicaId {
  const [service = "", shard = "", replica = "0"] = key.split("/");
  return { service, shard: decodeSegment(shard), replica: Number(replica) };
}

/** The service of a replica's or a shard's key, without taking the rest of it apart. */
export function serviceOf(key: ReplicaKey): string {
  return key.slice(0, key.indexOf("/"));
}

/** `service/shard`, the part of a replica's key that its replicas share. */
export function shardKey(service: string, shard: string): string {
  return `${service}/${encodeSegment(shard)}`;
}

/** The kinds of key, in the order of the table in docs/design/protocol.md. */
export type KeyKind =
  | "fleet"
  | "member"
  | "view"
  | "plan"
  | "tenure"
  | "contender"
  | "primary"
  | "trouble"
  | "auction"
  | "operator"
  | "catalogue"
  | "balance";

/** What lies under `auction/<service>/`. The table is in docs/design/auctions.md. */
export type AuctionPart =
  | "config"
  | "override"
  | "evaluator"
  | "bidder"
  | "pass"
  | "round"
  | "award"
  | "move"
  | "footprint"
  | "demand";

/** Takes the rest of an `auction` key apart: the service, the part, and the shard, replica or node it is about (empty when about none). */
export function parseAuctionKey(rest: string): { service: string; part: AuctionPart; about: string } {
  const [service = "", part = "", ...about] = rest.split("/");
  return { service, part: part as AuctionPart, about: about.join("/") };
}

/** What a key is about: its kind and the rest of its path below the kind. */
export interface ParsedKey {
  readonly kind: KeyKind;
  readonly rest: string;
}

/** Builds and takes apart the keys of one fleet. */
export class Keys {
  readonly fleet: string;
  readonly prefix: string;
  readonly era: string;
  readonly protocol: string;
  readonly manager: string;
  readonly #contenders: string;

  constructor(fleet: string) {
    this.fleet = fleet;
    this.prefix = `/keelson/${fleet}/`;
    this.era = `${this.prefix}fleet/era`;
    this.protocol = `${this.prefix}fleet/protocol`;
    this.manager = `${this.prefix}fleet/manager`;
    this.#contenders = `${this.prefix}contender/`;
  }

  member(node: string): string {
    return `${this.prefix}member/${node}`;
  }

  view(service: string): string {
    return `${this.prefix}view/${service}`;
  }

  /** Targets of 256 shards of a stored placement. */
  plan(service: string, chunk: number): string {
    return `${this.prefix}plan/${service}/${chunk}`;
  }

  tenure(replica: ReplicaKey): string {
    return `${this.prefix}tenure/${replica}`;
  }

  contender(replica: ReplicaKey, node: string): string {
    return `${this.prefix}contender/${replica}/${node}`;
  }

  /** The replica that a contender's key is about; undefined for any other key. */
  contendedFor(key: string): ReplicaKey | undefined {
    return key.startsWith(this.#contenders)
      ? key.slice(this.#contenders.length, key.lastIndexOf("/"))
      : undefined;
  }

  primary(shard: string): string {
    return `${this.prefix}primary/${shard}`;
  }

  trouble(shard: string): string {
    return `${this.prefix}trouble/${shard}`;
  }

  /** `about` is a shard key, a replica key or a node of that service; shard and replica keys begin with the service, which is not repeated. */
  auction(service: string, part: AuctionPart, about = ""): string {
    const below = about.startsWith(`${service}/`) ? about.slice(service.length + 1) : about;
    return `${this.prefix}auction/${service}/${part}${below === "" ? "" : `/${below}`}`;
  }

  /** An operator's wish that a node shall hold nothing. */
  drain(node: string): string {
    return `${this.prefix}operator/drain/${node}`;
  }

  /** An operator's wish that a replica, or any replica of a shard, shall be on a certain node. */
  pin(service: string, shard: string, replica: number | "any"): string {
    return `${this.prefix}operator/pin/${service}/${encodeSegment(shard)}/${replica}`;
  }

  /** What one node measured of the shards of a balanced service that it holds. */
  load(service: string, node: string): string {
    return `${this.prefix}balance/${service}/load/${node}`;
  }

  /** Which nodes a rolling restart has been through, as the managers of a balanced service saw it. */
  restarts(service: string): string {
    return `${this.prefix}balance/${service}/restarts`;
  }

  /** What a service that makes its own list of shards keeps about them: `head` is the list, everything else is the service's. */
  catalogue(service: string, about: string): string {
    return `${this.prefix}catalogue/${service}/${about}`;
  }

  /** Splits a key of this fleet into its kind and the rest; undefined for a key of another fleet. */
  parse(key: string): ParsedKey | undefined {
    if (!key.startsWith(this.prefix)) return undefined;
    const slash = key.indexOf("/", this.prefix.length);
    if (slash < 0) return undefined;
    return { kind: key.slice(this.prefix.length, slash) as KeyKind, rest: key.slice(slash + 1) };
  }
}
