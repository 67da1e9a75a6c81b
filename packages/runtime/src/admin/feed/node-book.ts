/** The numbers of nodes, and what the store says of each. A node keeps its number for as long as the feed runs, also when it is gone. */
import {
  readRecordText,
  type Keys,
  type LoadReport,
  type ManagerRecord,
  type Member,
  type StoreImage,
} from "@keelson/kernel";
import { entryValue } from "../../mirror/entry-value.ts";
import type { FeedNode } from "./frames.ts";

interface Carried {
  readonly load: number;
  readonly bytes: number;
  readonly budgetBytes: number;
}

export class NodeBook {
  readonly #keys: Keys;
  readonly #image: StoreImage;
  readonly #numbers = new Map<string, number>();
  readonly #nodes: FeedNode[] = [];
  /** What nodes report of each service. */
  readonly #carried = new Map<string, Map<string, Carried>>();
  /** Where a node was last seen, for one that is no member any more. */
  readonly #addresses = new Map<string, string>();
  members = 0;

  constructor(keys: Keys, image: StoreImage) {
    this.#keys = keys;
    this.#image = image;
  }

  get all(): readonly FeedNode[] {
    return this.#nodes;
  }

  get(index: number): FeedNode | undefined {
    return this.#nodes[index];
  }

  /** The node's number; a new one when it is seen for the first time. */
  number(node: string, address?: string): number {
    if (address !== undefined) this.#addresses.set(node, address);
    const known = this.#numbers.get(node);
    if (known !== undefined) return known;
    const i = this.#nodes.length;
    this.#numbers.set(node, i);
    this.#nodes.push({ i, ...this.#read(node) });
    if (this.#nodes[i]!.member) this.members++;
    return i;
  }

  has(node: string): boolean {
    return this.#numbers.has(node);
  }

  /** Reads the node anew. Undefined when nothing of it is different. */
  look(node: string): FeedNode | undefined {
    const seen = this.#numbers.has(node);
    if (!seen && !this.#image.get(this.#keys.member(node))) return undefined;
    const i = this.number(node);
    if (!seen) return this.#nodes[i];
    const before = this.#nodes[i]!;
    const now = { i, ...this.#read(node) };
    if (JSON.stringify(before) === JSON.stringify(now)) return undefined;
    this.members += Number(now.member) - Number(before.member);
    this.#nodes[i] = now;
    return now;
  }

  /** What a node reports to carry of a service; without a report, nothing is known. */
  carries(node: string, service: string, report: LoadReport | undefined): void {
    let services = this.#carried.get(node);
    if (!services) this.#carried.set(node, (services = new Map<string, Carried>()));
    if (report) services.set(service, sumOf(report));
    else services.delete(service);
  }

  #read(node: string): Omit<FeedNode, "i"> {
    const entry = this.#image.get(this.#keys.member(node));
    const member = entry && (entryValue(entry) as Member);
    const manager = this.#image.get(this.#keys.manager);
    return {
      node,
      address: member?.address ?? this.#addresses.get(node) ?? "",
      zone: member?.zone ?? "",
      version: member?.version ?? "",
      capacity: member?.capacity ?? 0,
      startedAt: member?.startedAt ?? 0,
      member: member !== undefined,
      drained: this.#image.get(this.#keys.drain(node)) !== undefined,
      manager: manager !== undefined && (entryValue(manager) as ManagerRecord).node === node,
      ...this.#load(node, member?.services ?? []),
    };
  }

  /** Reports say it where there are any; a seat at an auction says at least what there is room for. */
  #load(node: string, services: readonly string[]): Pick<FeedNode, "load" | "bytes" | "budgetBytes"> {
    const carried = [...(this.#carried.get(node)?.values() ?? [])];
    let budgetBytes = carried.reduce((sum, one) => sum + one.budgetBytes, 0);
    for (const service of services) {
      const seat = this.#image.get(this.#keys.auction(service, "bidder", node));
      if (seat) budgetBytes += readRecordText("bidder", seat.value).value?.budgetBytes ?? 0;
    }
    return {
      ...(carried.length === 0
        ? {}
        : {
            load: carried.reduce((sum, one) => sum + one.load, 0),
            bytes: carried.reduce((sum, one) => sum + one.bytes, 0),
          }),
      ...(budgetBytes > 0 ? { budgetBytes } : {}),
    };
  }
}

function sumOf({ heaviest, rest, budgetBytes = 0 }: LoadReport): Carried {
  let load = rest.count * (rest.each[0] ?? 0);
  let bytes = rest.count * (rest.each[1] ?? 0);
  for (const [one, size] of Object.values(heaviest)) {
    load += one ?? 0;
    bytes += size ?? 0;
  }
  return { load, bytes, budgetBytes };
}
