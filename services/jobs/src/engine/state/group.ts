/**
 * A task group, and the lanes in it: one per tenant with something ready or running there. Lanes take turns: the one with the fewest running tasks per weight,
 * and among equals the one that is furthest behind in virtual time.
 */
import { Heap, type HeapItem } from "../structure/heap.ts";
import { runsBefore, type Job } from "./job.ts";
import type { Refresh } from "./limit-key.ts";
import type { Tenant } from "./tenant.ts";

export class Lane implements HeapItem {
  readonly group: Group;
  readonly tenant: Tenant;
  readonly ready = new Heap<Job>(runsBefore);
  running = 0;
  /** Rises by 1/weight with every task; never behind the group's by more than nothing, so that idling earns no credit. */
  virtualTime = 0;
  slot = -1;

  constructor(group: Group, tenant: Tenant) {
    this.group = group;
    this.tenant = tenant;
  }
}

function takesTurnBefore(a: Lane, b: Lane): boolean {
  const loadA = a.running / a.tenant.weight;
  const loadB = b.running / b.tenant.weight;
  if (loadA !== loadB) return loadA < loadB;
  if (a.virtualTime !== b.virtualTime) return a.virtualTime < b.virtualTime;
  return a.tenant.order < b.tenant.order;
}

export class Group {
  readonly name: string;
  paused = false;
  readonly lanes = new Map<Tenant, Lane>();
  /** Lanes with something ready whose tenant is not paused. */
  readonly turns = new Heap<Lane>(takesTurnBefore);
  /** Of the lane that was served last. */
  virtualTime = 0;
  /** Floating limits that a worker of this group should be asked about. */
  readonly refreshes: Refresh[] = [];
  /** Jobs of this group that have not ended. */
  jobs = 0;

  constructor(name: string) {
    this.name = name;
  }

  lane(tenant: Tenant): Lane {
    let lane = this.lanes.get(tenant);
    if (lane === undefined) {
      lane = new Lane(this, tenant);
      this.lanes.set(tenant, lane);
    }
    return lane;
  }

  /** Puts a lane where it belongs after its ready jobs, its running tasks or its tenant have changed. */
  arrange(lane: Lane): void {
    const takesPart = lane.ready.size > 0 && !lane.tenant.paused;
    if (!takesPart) {
      if (lane.slot >= 0) this.turns.remove(lane);
      if (lane.running === 0 && lane.ready.size === 0) this.lanes.delete(lane.tenant);
    } else if (lane.slot >= 0) this.turns.moved(lane);
    else {
      if (lane.virtualTime < this.virtualTime) lane.virtualTime = this.virtualTime;
      this.turns.push(lane);
    }
  }
}
