/**
 * What an operator asks, carried out: each is one guarded commit, worked out from the facts and worked out again when somebody was faster. Nothing here
 * touches a tenure; placements, hosts and the manager do the rest.
 */
import {
  AUCTION,
  BALANCED,
  nearest,
  pinsMax,
  replicaKey,
  shardIds,
  shardKey,
  type Commit,
  type MoveRequest,
  type PinWish,
  type View,
  type Wish,
} from "@keelson/kernel";
import type { ActionDone, MoveOrder, PinRequest, Wisher } from "./contract.ts";
import { AdminError } from "./errors.ts";
import type { FleetFacts } from "./facts.ts";

/** What to write, if anything; and what to say when that is done. */
export interface Intended {
  readonly commit: Commit | undefined;
  readonly done: string;
}

const TEXT_CHARS_MAX = 500;

export function drain(facts: FleetFacts, node: string, wisher: Wisher, now: number): Intended {
  requireNode(facts, node);
  const key = facts.keys.drain(node);
  const known = facts.wishes.drains.find((drain) => drain.node === node);
  if (known)
    return { commit: undefined, done: `${node} is drained already, since ${known.wish.by} wished it` };
  return {
    commit: put(key, 0, wishOf(wisher, now)),
    done: `${node} gives away what it holds`,
  };
}

export function undrain(facts: FleetFacts, node: string): Intended {
  const known = facts.wishes.drains.find((drain) => drain.node === node);
  if (known) return { commit: remove(known.key, known.revision), done: `${node} takes its share again` };
  requireNode(facts, node);
  return { commit: undefined, done: `${node} is not drained` };
}

export function pin(facts: FleetFacts, pinned: PinRequest, wisher: Wisher, now: number): Intended {
  const { service, shard, replica, node } = pinned;
  const view = requirePins(facts, service);
  requireShard(view, service, shard, replica);
  requireNode(facts, node);
  const key = facts.keys.pin(service, shard, replica ?? "any");
  const known = facts.wishes.pins.find((each) => each.key === key);
  const name = nameOf(service, shard, replica);
  if (known?.node === node && known.wish.once !== true)
    return { commit: undefined, done: `${name} is pinned to ${node} already` };
  requireRoom(facts, known === undefined);
  const wish: PinWish = { ...wishOf(wisher, now), node };
  return { commit: put(key, known?.revision ?? 0, wish), done: `${name} is pinned to ${node}` };
}

export function unpin(facts: FleetFacts, pinned: Omit<PinRequest, "node">): Intended {
  const { service, shard, replica } = pinned;
  const known = facts.wishes.pins.find(
    (each) => each.service === service && each.shard === shard && each.replica === replica,
  );
  const name = nameOf(service, shard, replica);
  if (!known) {
    requireShard(requireService(facts, service), service, shard, replica);
    return { commit: undefined, done: `${name} is not pinned` };
  }
  return { commit: remove(known.key, known.revision), done: `${name} is no longer pinned` };
}

export function move(facts: FleetFacts, order: MoveOrder, wisher: Wisher, now: number): Intended {
  const { service, shard, node } = order;
  const view = requireService(facts, service);
  const replica = order.replica ?? 0;
  requireShard(view, service, shard, replica);
  if (view.parameters.replicas > 1 && order.replica === undefined)
    throw new AdminError(
      "NOT_POSSIBLE",
      `${nameOf(service, shard, undefined)} has ${view.parameters.replicas} replicas: say which, as ${nameOf(service, shard, 0)}`,
    );
  if (view.algorithm === AUCTION) return auctionMove(facts, order, replica, wisher);
  requirePins(facts, service);
  if (node === undefined)
    throw new AdminError("NOT_POSSIBLE", `say where ${nameOf(service, shard, replica)} shall go`);
  requireNode(facts, node);
  const name = nameOf(service, shard, replica);
  const key = facts.keys.pin(service, shard, replica);
  const known = facts.wishes.pins.find((each) => each.key === key);
  if (known && known.wish.once !== true && known.node !== node)
    throw new AdminError("NOT_POSSIBLE", `${name} is pinned to ${known.node}: unpin it first`);
  if (facts.tenures.get(replicaKey(service, shard, replica))?.value.node === node)
    return { commit: undefined, done: `${name} is on ${node} already` };
  requireRoom(facts, known === undefined);
  const wish: PinWish = { ...wishOf(wisher, now), node, once: true };
  return { commit: put(key, known?.revision ?? 0, wish), done: `${name} moves to ${node}` };
}

/** An auctioned replica goes to the highest bid, not where one wishes; one can only ask for it to be moved. */
function auctionMove(facts: FleetFacts, order: MoveOrder, replica: number, wisher: Wisher): Intended {
  const { service, shard, node } = order;
  const key = replicaKey(service, shard, replica);
  const name = nameOf(service, shard, replica);
  if (node !== undefined)
    throw new AdminError(
      "NOT_POSSIBLE",
      `${service} is auctioned: ${name} goes to the highest bid, not where one wishes; leave the node out`,
    );
  const tenure = facts.tenures.get(key);
  if (!tenure)
    throw new AdminError("NOT_POSSIBLE", `${name} is held by nobody: it is up for auction already`);
  const request: MoveRequest = {
    v: 1,
    fromSession: tenure.value.session,
    by: cut(wisher.by),
    reason: cut(wisher.reason) || "an operator asked for it",
  };
  const moveKey = facts.keys.auction(service, "move", key);
  return {
    commit: {
      guards: [{ key: facts.keys.tenure(key), revision: tenure.revision }],
      writes: [{ kind: "put", key: moveKey, value: JSON.stringify(request) }],
    },
    done: `${name} is put up for auction`,
  };
}

export function retry(facts: FleetFacts, service: string, shard: string): Intended {
  const name = nameOf(service, shard, undefined);
  const trouble = facts.troubles.get(shardKey(service, shard));
  if (!trouble) {
    requireShard(requireService(facts, service), service, shard, undefined);
    return { commit: undefined, done: `nothing is held against ${name}` };
  }
  return {
    commit: remove(facts.keys.trouble(shardKey(service, shard)), trouble.revision),
    done: `${name} is tried again: ${trouble.value.strikes} strikes are forgotten`,
  };
}

export function asDone({ commit, done }: Intended): ActionDone {
  return { done, already: commit === undefined };
}

export function requireService(facts: FleetFacts, service: string): View {
  const view = facts.views.get(service)?.value;
  if (view) return view;
  const known = [...facts.views.keys()].sort();
  throw new AdminError(
    "NO_SUCH_SERVICE",
    known.length === 0
      ? `there is no service ${service}: no node has joined yet that offers one`
      : `there is no service ${service}${meant(service, known)}: there ${known.length === 1 ? "is" : "are"} ${known.join(", ")}`,
  );
}

export function noSuchShard(view: View, service: string, shard: string): AdminError {
  const ids = shardIds(view.parameters);
  const range =
    view.parameters.shardIds === undefined
      ? `: its shards are 0 to ${ids.length - 1}`
      : meant(shard, ids.slice(0, 1_000));
  return new AdminError("NO_SUCH_SHARD", `${service} has no shard ${shard}${range}`);
}

function requireShard(view: View, service: string, shard: string, replica: number | undefined): void {
  if (!shardIds(view.parameters).includes(shard)) throw noSuchShard(view, service, shard);
  const { replicas } = view.parameters;
  if (replica !== undefined && !(replica >= 0 && replica < replicas))
    throw new AdminError(
      "NO_SUCH_SHARD",
      `${service}/${shard} has ${replicas === 1 ? "one replica, 0" : `the replicas 0 to ${replicas - 1}`}, not ${replica}`,
    );
}

function requireNode(facts: FleetFacts, node: string): void {
  if (facts.members.has(node)) return;
  const known = [...facts.members.keys()].sort();
  throw new AdminError(
    "NO_SUCH_NODE",
    `there is no node ${node}${meant(node, known)}: the members are ${known.slice(0, 20).join(", ") || "none"}`,
  );
}

function requirePins(facts: FleetFacts, service: string): View {
  const view = requireService(facts, service);
  if (view.algorithm === BALANCED) return view;
  throw new AdminError(
    "NOT_POSSIBLE",
    `${service} is placed by ${view.algorithm}, which takes no wishes for single shards: drain a node instead, or let the service use ${BALANCED}`,
  );
}

function requireRoom({ wishes }: FleetFacts, another: boolean): void {
  if (!another || wishes.pins.length < pinsMax) return;
  throw new AdminError("NOT_POSSIBLE", `there are ${pinsMax} pins already: remove some`);
}

function meant(word: string, known: readonly string[]): string {
  // Of names as short as these, anything is near anything.
  const near = word.length > 2 ? nearest(word, known) : undefined;
  return near === undefined ? "" : ` (did you mean ${near}?)`;
}

function nameOf(service: string, shard: string, replica: number | undefined): string {
  return replica === undefined ? shardKey(service, shard) : replicaKey(service, shard, replica);
}

function wishOf({ by, reason }: Wisher, since: number): Wish {
  return { v: 1, by: cut(by) || "somebody", reason: cut(reason), since };
}

function cut(text: string): string {
  return text.slice(0, TEXT_CHARS_MAX);
}

function put(key: string, revision: number, value: object): Commit {
  return { guards: [{ key, revision }], writes: [{ kind: "put", key, value: JSON.stringify(value) }] };
}

function remove(key: string, revision: number): Commit {
  return { guards: [{ key, revision }], writes: [{ kind: "delete", key }] };
}
