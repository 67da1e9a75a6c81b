/** The fleet's admin through a gateway: each method is one route below /v1/fleet. What a gateway refuses is told in its own words. */
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
  ServiceForecast,
  ShardExplanation,
  ShardFilter,
  ShardPage,
  Wisher,
} from "@keelson/runtime";
import type { GatewayDoor } from "./gateway-door.ts";

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export class HttpAdmin implements FleetAdmin {
  readonly #door: GatewayDoor;

  constructor(door: GatewayDoor) {
    this.#door = door;
  }

  status(): Promise<FleetStatus> {
    return this.#get("/status");
  }

  async nodes({ reports = false }: { readonly reports?: boolean } = {}): Promise<readonly NodeStatus[]> {
    const { nodes } = await this.#get<{ nodes: NodeStatus[] }>("/nodes", { reports });
    return nodes;
  }

  shards({ service, node, state, after, limit }: ShardFilter): Promise<ShardPage> {
    return this.#get("/shards", { service, node, state, after, limit });
  }

  explain(service: string, shard: string): Promise<ShardExplanation> {
    return this.#get(`/shards/${path(service, shard)}`);
  }

  async forecast({ service, without, joining }: ForecastQuery): Promise<readonly ServiceForecast[]> {
    const query = { service, without: without?.join(","), joining: joining?.join(",") };
    return (await this.#get<{ services: ServiceForecast[] }>("/plan", query)).services;
  }

  events({ after, waitMs, limit }: EventQuery): Promise<EventPage> {
    return this.#get("/events", { after, waitMs, limit });
  }

  async doctor(): Promise<readonly Finding[]> {
    return (await this.#get<{ findings: Finding[] }>("/doctor")).findings;
  }

  drain(node: string, wisher: Wisher): Promise<ActionDone> {
    return this.#change("PUT", `/drains/${path(node)}`, wisher);
  }

  undrain(node: string): Promise<ActionDone> {
    return this.#change("DELETE", `/drains/${path(node)}`);
  }

  pin({ service, shard, replica, node }: PinRequest, wisher: Wisher): Promise<ActionDone> {
    return this.#change("PUT", `/pins/${path(service, shard)}`, { ...wisher, replica, node });
  }

  unpin({ service, shard, replica }: Omit<PinRequest, "node">): Promise<ActionDone> {
    return this.#change("DELETE", `/pins/${path(service, shard)}${queryText({ replica })}`);
  }

  move({ service, shard, replica, node }: MoveOrder, wisher: Wisher): Promise<ActionDone> {
    return this.#change("POST", `/moves/${path(service, shard)}`, { ...wisher, replica, node });
  }

  retry(service: string, shard: string): Promise<ActionDone> {
    return this.#change("DELETE", `/troubles/${path(service, shard)}`);
  }

  async #get<T>(where: string, query: Query = {}): Promise<T> {
    return (await this.#door.ask("GET", `/v1/fleet${where}${queryText(query)}`)) as T;
  }

  async #change(verb: "PUT" | "POST" | "DELETE", where: string, body?: unknown): Promise<ActionDone> {
    return (await this.#door.ask(verb, `/v1/fleet${where}`, body)) as ActionDone;
  }
}

function path(...segments: readonly string[]): string {
  return segments.map((segment) => encodeURIComponent(segment)).join("/");
}

function queryText(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return "";
  return `?${new URLSearchParams(Object.fromEntries(given.map(([key, value]) => [key, String(value)]))).toString()}`;
}
