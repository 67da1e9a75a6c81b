/** Links to the pages of nodes and shards. */
import type { JSX } from "preact";
import { path } from "../api/request.ts";
import type { FleetModel } from "./feed/model.ts";

export function nodeHref(node: string): string {
  return path`/console/nodes/${node}`;
}

export function shardHref(service: string, shard: string): string {
  return path`/console/shards/${service}/${shard}`;
}

export function NodeLink({ node }: { readonly node: string | undefined }): JSX.Element {
  return node === undefined || node === "" ? (
    <span class="muted">nobody</span>
  ) : (
    <a href={nodeHref(node)}>{node}</a>
  );
}

/** By the replica's number. */
export function ReplicaLink({ model, i }: { readonly model: FleetModel; readonly i: number }): JSX.Element {
  return <a href={shardHref(model.serviceName(i), model.shards[i] ?? "")}>{model.nameOf(i)}</a>;
}

/** What an event is about: `service/shard/replica`, a shard, a service, or none of these. */
export function aboutHref(about: string | undefined): string | undefined {
  const [service, shard] = about?.split("/") ?? [];
  if (service === undefined || shard === undefined) return undefined;
  return shardHref(service, decodeURIComponent(shard));
}
