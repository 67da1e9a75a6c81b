import {
  balanceTerms,
  makeLoadReport,
  tellsMore,
  type Clock,
  type HeldSession,
  type Keys,
  type LoadReport,
  type Random,
  type ReplicaKey,
  type ShardStats,
} from "@keelson/kernel";
import type { Committer } from "../commits/committer.ts";
import type { Mirror } from "../mirror/mirror.ts";
import type { ServiceDefinition } from "../service/service.ts";

export interface LoadReportPorts {
  readonly node: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly keys: Keys;
  readonly mirror: Mirror;
  readonly committer: Committer;
  /** What the live shards of a service on this node say of themselves. */
  readonly stats: (service: string) => Iterable<readonly [ReplicaKey, ShardStats]>;
  readonly changed: () => void;
}

interface Reported {
  readonly service: ServiceDefinition;
  readonly measureMs: number;
  readonly hysteresisShare: number;
  dueAt: number;
  busy: boolean;
  last: { readonly report: LoadReport; readonly session: string } | undefined;
}

/**
 * Tells the manager what this node's shards weigh, for the services whose plans go by load: one key per service, written only when it says something new. It goes with the
 * node's liveness session.
 */
export class LoadReports {
  readonly #ports: LoadReportPorts;
  readonly #services: readonly Reported[];

  constructor(services: Iterable<ServiceDefinition>, ports: LoadReportPorts) {
    this.#ports = ports;
    this.#services = [...services].flatMap((service) => {
      const options = loadOptions(service);
      if (!options) return [];
      const { measureMs, hysteresisShare } = balanceTerms(options);
      return [{ service, measureMs, hysteresisShare, dueAt: -Infinity, busy: false, last: undefined }];
    });
  }

  tick(session: HeldSession | undefined): void {
    const now = this.#ports.clock.now();
    if (!session?.fence.passes(now)) return;
    for (const reported of this.#services)
      if (!reported.busy && (now >= reported.dueAt || reported.last?.session !== session.id))
        this.#report(reported, session, now);
  }

  wakeAt(): number {
    let at = Infinity;
    for (const { busy, dueAt } of this.#services) if (!busy) at = Math.min(at, dueAt);
    return at;
  }

  #report(reported: Reported, session: HeldSession, now: number): void {
    const { keys, mirror, committer, random, node, stats, changed } = this.#ports;
    const { name, memory } = reported.service;
    // Spread, so that a fleet that started together does not report together for ever.
    reported.dueAt = now + reported.measureMs * (0.9 + 0.2 * random());
    const key = keys.load(name, node);
    const stored = mirror.image.get(key);
    const report = makeLoadReport(named(name, stats(name)), memory?.budgetBytes);
    const before = stored && reported.last?.session === session.id ? reported.last.report : undefined;
    if (!tellsMore(before, report, reported.hysteresisShare)) return;
    reported.busy = true;
    committer.alone(
      {
        guards: [{ key, revision: stored?.revision ?? 0 }],
        writes: [{ kind: "put", key, value: JSON.stringify(report), session: session.id }],
      },
      (outcome) => {
        reported.busy = false;
        reported.last = { report, session: session.id };
        // It is repeated with the next measurement; nothing depends on one of them.
        if (outcome !== "committed") reported.last = undefined;
        changed();
      },
    );
  }
}

/** The options of the placement that goes by load, if one of the service's does. */
function loadOptions({ placement, parameters, shadow }: ServiceDefinition) {
  if (placement.stored) return parameters.placement;
  return shadow?.placement.stored ? (shadow.options ?? {}) : undefined;
}

function* named(
  service: string,
  stats: Iterable<readonly [ReplicaKey, ShardStats]>,
): Iterable<readonly [string, ShardStats]> {
  for (const [key, one] of stats) yield [key.slice(service.length + 1), one];
}
