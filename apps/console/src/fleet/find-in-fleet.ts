/** Lets the command palette find nodes and shards by a part of their names, in what the page knows of the fleet already. */
import type { Command } from "../ui/shortcuts.ts";
import { model } from "./feed/connection.ts";
import { nodeHref, shardHref } from "./links.tsx";

const FOUND_MAX = 12;

export function findInFleet(typed: string, go: (href: string) => void): readonly Command[] {
  const known = model.peek();
  if (!known) return [];
  const wanted = typed.toLowerCase();
  const nodes: Command[] = known.nodes
    .filter(({ node, member }) => member && node.toLowerCase().includes(wanted))
    .slice(0, FOUND_MAX)
    .map(({ node }) => ({ title: node, group: "Node", run: () => go(nodeHref(node)) }));
  const shards: Command[] = [];
  for (let i = 0; i < known.size && shards.length < FOUND_MAX; i++) {
    if (!known.exists(i) || known.replica[i] !== 0) continue;
    const service = known.serviceName(i);
    const shard = known.shards[i]!;
    const name = `${service}/${shard}`;
    if (name.toLowerCase().includes(wanted))
      shards.push({ title: name, group: "Shard", run: () => go(shardHref(service, shard)) });
  }
  return [...nodes, ...shards];
}
