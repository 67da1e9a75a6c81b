import type { Controller, ControllerInput, Proposal } from "../control/controller.ts";
import { AUCTION } from "../auction/placement.ts";
import type { MoveRequest } from "../auction/records.ts";
import { encodeSegment, replicaKey, serviceOf, type Keys } from "../identity/keys.ts";
import type { View } from "../membership/view.ts";
import type { Tenure } from "../tenure/tenure.ts";
import { readWishes, type StoredPin, type Wishes } from "./wishes.ts";

/** Requests to move what a drained node holds of an auctioned service that are made at once: each is an auction. */
const auctionMovesMax = 8;

/**
 * Looks after operators' wishes. A wish to move a replica once ends when the replica has arrived. What a drained node holds of an auctioned service
 * is put up for auction; with other placements the node's weight of 0 is enough.
 */
export const operatorController: Controller = {
  name: "operator",
  kinds: ["operator", "tenure"],
  debounceMs: 250,
  periodMs: 5_000,
  reconcile(input) {
    const wishes = readWishes(input.keys, input.entries());
    if (wishes.drains.length === 0 && wishes.pins.length === 0) return [];
    return [...arrived(input, wishes.pins), ...auctioned(input, wishes)];
  },
};

function* arrived(input: ControllerInput, pins: readonly StoredPin[]): Iterable<Proposal> {
  for (const { wish, key, revision, service, shard, replica = 0, node } of pins) {
    if (wish.once !== true) continue;
    const tenure = input.get(input.keys.tenure(replicaKey(service, shard, replica)));
    if (!tenure || (JSON.parse(tenure.value) as Tenure).node !== node) continue;
    yield {
      commit: {
        guards: [
          { key, revision },
          { key: tenure.key, revision: tenure.revision },
        ],
        writes: [{ kind: "delete", key }],
      },
      reason: `${service}/${encodeSegment(shard)}/${replica} has arrived on ${node}, as ${wish.by} wished`,
    };
  }
}

function* auctioned(input: ControllerInput, { drains }: Wishes): Iterable<Proposal> {
  if (drains.length === 0) return;
  const { keys } = input;
  const services = auctionedServices(input);
  if (services.size === 0) return;
  const drained = new Map(drains.map((drain) => [drain.node, drain.wish]));
  let left = auctionMovesMax;
  const prefix = `${keys.prefix}tenure/`;
  for (const { key, value, revision } of input.entries()) {
    if (!key.startsWith(prefix)) continue;
    const replica = key.slice(prefix.length);
    if (!services.has(serviceOf(replica))) continue;
    const { node, session } = JSON.parse(value) as Tenure;
    const wish = drained.get(node);
    if (!wish) continue;
    const request = input.get(moveKey(keys, replica));
    if (request && (JSON.parse(request.value) as MoveRequest).fromSession === session) {
      left--;
      continue;
    }
    if (left-- <= 0) return;
    const move: MoveRequest = { v: 1, fromSession: session, by: wish.by, reason: `${node} is drained` };
    yield {
      commit: {
        guards: [
          { key: moveKey(keys, replica), revision: request?.revision ?? 0 },
          { key, revision },
        ],
        writes: [{ kind: "put", key: moveKey(keys, replica), value: JSON.stringify(move) }],
      },
      reason: `${replica} is put up for auction: ${node} is drained`,
    };
  }
}

function moveKey(keys: Keys, replica: string): string {
  return keys.auction(serviceOf(replica), "move", replica);
}

function auctionedServices(input: ControllerInput): ReadonlySet<string> {
  const prefix = `${input.keys.prefix}view/`;
  const found = new Set<string>();
  for (const { key, value } of input.entries()) {
    if (!key.startsWith(prefix)) continue;
    const { algorithm } = JSON.parse(value) as View;
    if (algorithm === AUCTION) found.add(key.slice(prefix.length));
  }
  return found;
}
