/**
 * Which etcd this is. The cluster's id alone does not tell: a cluster made anew with the same configuration has the same one. So the first client of an
 * empty etcd also leaves a random value under a key of its own, and both together name the incarnation. A restored snapshot brings the value back
 * with the rest: that shows by the revision, which falls.
 */
import type { Random } from "@keelson/kernel";
import { newIncarnation } from "../core/incarnation.ts";
import type { Operation, Transaction } from "./messages/kv.ts";

/** Beside the fleets' keys, under the same first letters, so that one permission covers both. */
const KEY = "/keelson-incarnation";

export class Incarnation {
  readonly key: string;
  readonly clusterId: string;
  readonly value: string;

  constructor(key: string, clusterId: string, value: string) {
    this.key = key;
    this.clusterId = clusterId;
    this.value = value;
  }

  get name(): string {
    return `${this.clusterId}-${this.value}`;
  }

  /** The value that a caller's incarnation names, if it is one of this cluster at all. */
  valueIn(name: string): string | undefined {
    const start = `${this.clusterId}-`;
    return name.startsWith(start) && name.length > start.length ? name.slice(start.length) : undefined;
  }
}

export function incarnationKey(namespace: string): string {
  return namespace + KEY;
}

export function readIncarnation(key: string): Operation {
  return { kind: "range", query: { key: Buffer.from(key) } };
}

/** Leaves a value where there is none; the result tells which one is there. */
export function leaveIncarnation(key: string, random: Random): { transaction: Transaction; value: string } {
  const value = newIncarnation(random);
  const transaction: Transaction = {
    compares: [{ kind: "revision", key, revision: 0 }],
    success: [{ kind: "put", key, value }],
    failure: [readIncarnation(key)],
  };
  return { transaction, value };
}
