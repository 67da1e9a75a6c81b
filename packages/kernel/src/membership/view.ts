import { decodeNumbers } from "./number-set.ts";

/** The numbered, stored statement of who is a member of a service. Every placement computes from a view, never from a node's own idea of the fleet. */
export interface View {
  readonly v: 1;
  readonly n: number;
  /** Sorted by node id. */
  readonly members: readonly ViewMember[];
  readonly parameters: ServiceParameters;
  /** Version of the placement algorithm; a node that does not know it computes no plan. */
  readonly algorithm: string;
  /** Why this view was made, for `explain`. */
  readonly reason: string;
}

export interface ViewMember {
  readonly node: string;
  readonly zone: string;
  readonly weight: number;
}

/** What all nodes of a service must agree on; travels in the view. */
export interface ServiceParameters {
  /** Rises when a newer declaration of the service shall replace the parameters that stand in the view; 0 when left out. */
  readonly revision?: number;
  /** Shard ids are "0" … "shards − 1", unless they are listed. */
  readonly shards: number;
  readonly shardIds?: readonly string[];
  /** More ids, all of them whole numbers, as `encodeNumbers` writes them: a list of many thousands would not fit. */
  readonly shardNumbers?: string;
  readonly replicas: number;
  /** One replica of each shard holds a primary key (R > 1 with shared resources). */
  readonly primary?: boolean;
  /** Options of the placement, e.g. virtual nodes and load bound of the ring. */
  readonly placement: Readonly<Record<string, number | string | boolean>>;
}

/** The ids of a service's shards, in order. */
export function shardIds(parameters: ServiceParameters): readonly string[] {
  const { shardIds: listed, shardNumbers } = parameters;
  if (shardNumbers !== undefined) return [...(listed ?? []), ...decodeNumbers(shardNumbers).map(String)];
  return listed ?? Array.from({ length: parameters.shards }, (_, i) => String(i));
}

/** How many there are, without listing them. */
export function shardCount({ shards, shardIds: listed, shardNumbers }: ServiceParameters): number {
  return shardNumbers === undefined && listed ? listed.length : shards;
}
