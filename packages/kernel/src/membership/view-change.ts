import type { Keys } from "../identity/keys.ts";
import type { Guard, Revision } from "../store/contract.ts";
import type { ServiceDeclaration } from "./declaration.ts";
import type { Member } from "./member.ts";
import type { View, ViewMember } from "./view.ts";

export interface MemberEntry {
  readonly member: Member;
  readonly revision: Revision;
}

export interface ViewEntry {
  readonly view: View;
  readonly revision: Revision;
}

/** How the members that offer a service differ from its view. Each list is in the order of node ids. */
export interface ViewDifference {
  /** In the view, and its key is absent, or present (`entry`) without offering the service any more. */
  readonly removed: readonly { readonly node: string; readonly entry: MemberEntry | undefined }[];
  readonly added: readonly MemberEntry[];
  /** In the view with another weight or zone than the key says. */
  readonly changed: readonly MemberEntry[];
}

/** The next view of a service, with what must hold in the store for it to be true. */
export interface ViewProposal {
  readonly view: View;
  /** The driver adds the open era's. */
  readonly guards: readonly Guard[];
  readonly reason: string;
}

/** Guards and the write of one commit stay below the store's limit of 100 operations; what is left over makes the next view. */
export const viewChangesMax = 90;

/** How many nodes a reason names before it counts the rest. */
const namedMax = 8;

export function viewDifference(
  service: string,
  view: View | undefined,
  members: Iterable<MemberEntry>,
): ViewDifference {
  const present = new Map<string, MemberEntry>();
  for (const entry of members) present.set(entry.member.node, entry);
  const removed: ViewDifference["removed"][number][] = [];
  const changed: MemberEntry[] = [];
  const known = new Set<string>();
  for (const { node, zone, weight } of view?.members ?? []) {
    known.add(node);
    const entry = present.get(node);
    if (!entry || !offers(entry, service)) removed.push({ node, entry });
    else if (entry.member.zone !== zone || weightOf(entry.member) !== weight) changed.push(entry);
  }
  const added: MemberEntry[] = [];
  for (const entry of present.values())
    if (!known.has(entry.member.node) && offers(entry, service)) added.push(entry);
  added.sort((a, b) => (a.member.node < b.member.node ? -1 : 1));
  return { removed, added, changed };
}

/** Applies a difference to the current view; the declaration's parameters are taken for a first view, or when `adopt` says so. */
export function proposeView(options: {
  readonly keys: Keys;
  readonly current: ViewEntry | undefined;
  readonly difference: ViewDifference;
  readonly declaration: ServiceDeclaration;
  readonly adopt: boolean;
  /** Off only where the simulator breaks the rule `viewGuard`. */
  readonly memberGuards: boolean;
}): ViewProposal {
  const { keys, current, difference, declaration, memberGuards } = options;
  const adopt = options.adopt && current !== undefined;
  const { parameters, algorithm } = adopt || !current ? declaration : current.view;
  const removed = difference.removed.slice(0, viewChangesMax);
  const changed = difference.changed.slice(0, viewChangesMax - removed.length);
  const added = difference.added.slice(0, viewChangesMax - removed.length - changed.length);
  const guards: Guard[] = [{ key: keys.view(declaration.service), revision: current?.revision ?? 0 }];
  const members = new Map(current?.view.members.map((member) => [member.node, member]));
  for (const { node, entry } of removed) {
    members.delete(node);
    if (memberGuards) guards.push({ key: keys.member(node), revision: entry?.revision ?? 0 });
  }
  for (const { member, revision } of [...changed, ...added]) {
    members.set(member.node, { ...members.get(member.node), ...viewMember(member) });
    if (memberGuards) guards.push({ key: keys.member(member.node), revision });
  }
  const reason = [
    ...(current ? [] : ["first view"]),
    ...say(removed, "left or was lost"),
    ...say(added.map(nodeOf), "joined"),
    ...say(changed.map(nodeOf), "changed zone or weight"),
    ...(adopt
      ? [`parameters revision ${current.view.parameters.revision ?? 0} → ${parameters.revision ?? 0}`]
      : []),
  ].join("; ");
  const view: View = {
    ...current?.view,
    v: 1,
    n: (current?.view.n ?? 0) + 1,
    members: [...members.values()].sort((a, b) => (a.node < b.node ? -1 : 1)),
    parameters,
    algorithm,
    reason,
  };
  return { view, guards, reason };
}

function offers(entry: MemberEntry, service: string): boolean {
  return entry.member.services.includes(service);
}

/** A capacity that is no number, or below 0, holds nothing. */
function weightOf(member: Member): number {
  return member.capacity > 0 && Number.isFinite(member.capacity) ? member.capacity : 0;
}

function viewMember(member: Member): ViewMember {
  return { node: member.node, zone: member.zone, weight: weightOf(member) };
}

function nodeOf(entry: MemberEntry): { readonly node: string } {
  return entry.member;
}

function say(nodes: readonly { readonly node: string }[], what: string): string[] {
  if (nodes.length === 0) return [];
  const names = nodes.slice(0, namedMax).map(({ node }) => node);
  const more = nodes.length - names.length;
  return [`${names.join(", ")}${more > 0 ? ` and ${more} more` : ""} ${what}`];
}
