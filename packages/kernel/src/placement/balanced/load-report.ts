import type { ShardStats } from "../../lifecycle/service.ts";
import { utf8Bytes } from "./utf8.ts";

/**
 * What one node has measured of the replicas it holds, as one value under `balance/<service>/load/<node>`. It is bounded: the heaviest replicas are listed,
 * the others only counted, with their mean. A manager that plans with it misjudges light ones a little, and no plan depends on those.
 */
export interface LoadReport {
  readonly v: 1;
  /** What the node has for the service's shards in all, if the service says so. */
  readonly budgetBytes?: number;
  /** By `<shard>/<replica>`, as in a replica's key. */
  readonly heaviest: Readonly<Record<string, Measured>>;
  readonly rest: { readonly count: number; readonly each: Measured };
}

/** Load and bytes. Null: the shard does not say. */
export type Measured = readonly [load: number | null, bytes: number | null];

/** Every node of the fleet is told of every report, so that a value's 64 KiB are more than they should take. */
export const reportBytesMax = 16_384;
/** What the value takes beside the entries of replicas. */
const frameBytes = 256;

/** Makes a report of what shards say; `name` is `<shard>/<replica>`. */
export function makeLoadReport(
  stats: Iterable<readonly [name: string, stats: ShardStats]>,
  budgetBytes: number | undefined,
): LoadReport {
  const all = [...stats].map(([name, { load, sizeBytes }]) => ({ name, load, bytes: sizeBytes }));
  const loads = sumOf(all.map(({ load }) => load));
  const sizes = sumOf(all.map(({ bytes }) => bytes));
  const weight = ({ load = 0, bytes = 0 }: (typeof all)[number]): number =>
    Math.max(loads.sum > 0 ? load / loads.sum : 0, sizes.sum > 0 ? bytes / sizes.sum : 0);
  const byWeight = all
    .map((one) => ({ ...one, weight: weight(one) }))
    .sort((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1));
  const heaviest: Record<string, Measured> = {};
  let used = frameBytes;
  let listed = 0;
  for (const { name, load, bytes } of byWeight) {
    const measured: Measured = [short(load), short(bytes)];
    used += utf8Bytes(JSON.stringify(name)) + JSON.stringify(measured).length + 2;
    if (used > reportBytesMax) break;
    heaviest[name] = measured;
    listed++;
  }
  const light = byWeight.slice(listed);
  const each: Measured = [
    short(sumOf(light.map(({ load }) => load)).mean),
    short(sumOf(light.map(({ bytes }) => bytes)).mean),
  ];
  return {
    v: 1,
    ...(budgetBytes === undefined ? {} : { budgetBytes }),
    heaviest,
    rest: { count: light.length, each },
  };
}

/** Whether a new report says something that the one before did not: replicas that came or went, or a change by more than the share. */
export function tellsMore(before: LoadReport | undefined, after: LoadReport, share: number): boolean {
  if (!before || before.budgetBytes !== after.budgetBytes) return true;
  const names = Object.keys(after.heaviest);
  if (names.length !== Object.keys(before.heaviest).length || before.rest.count !== after.rest.count)
    return true;
  if (differs(before.rest.each, after.rest.each, share)) return true;
  return names.some((name) => {
    const old = before.heaviest[name];
    return !old || differs(old, after.heaviest[name]!, share);
  });
}

/** The report as it was stored; undefined for one of a version that this node does not know. */
export function readLoadReport(value: string): LoadReport | undefined {
  const report = JSON.parse(value) as LoadReport;
  return report.v === 1 ? report : undefined;
}

function differs(a: Measured, b: Measured, share: number): boolean {
  return a.some((old, d) => {
    const now = b[d]!;
    if (old === null || now === null) return old !== now;
    return Math.abs(old - now) > share * Math.max(old, now);
  });
}

function sumOf(values: readonly (number | undefined)[]): { sum: number; mean: number | undefined } {
  const known = values.filter((value) => value !== undefined && value >= 0 && value < Infinity);
  const sum = known.reduce<number>((total, value) => total + value!, 0);
  return { sum, mean: known.length === 0 ? undefined : sum / known.length };
}

/** Three digits: nobody plans by the fourth. What makes no sense was not measured. */
function short(value: number | undefined): number | null {
  return value === undefined || !(value >= 0 && value < Infinity) ? null : Number(value.toPrecision(3));
}
