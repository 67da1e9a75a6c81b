/**
 * The contract's data as schemas, for the API's documents and for whoever reads its answers. A test parses real answers with them, strictly, so
 * that they and the contract stay the same.
 */
import { z } from "zod";
import { REPLICA_STATES } from "./contract.ts";

const count = z.number().int().nonnegative();
const wall = z.number().describe("wall clock in milliseconds");
const epoch = z.strictObject({ era: count, revision: count });

const serviceStatus = z.strictObject({
  service: z.string(),
  placement: z.string(),
  view: count,
  members: count,
  shards: count,
  replicas: count,
  wanted: count,
  held: count,
  misplaced: count,
  contenders: count,
  troubled: count,
  quarantined: count,
});

const pinStatus = z.strictObject({
  service: z.string(),
  shard: z.string(),
  replica: count.optional(),
  node: z.string(),
  once: z.boolean(),
  by: z.string(),
  reason: z.string(),
  since: wall,
  kept: z.boolean(),
});

export const wishesSchema = z.strictObject({
  drains: z.array(
    z.strictObject({ node: z.string(), by: z.string(), reason: z.string(), since: wall, held: count }),
  ),
  pins: z.array(pinStatus),
});

export const fleetStatusSchema = z.strictObject({
  fleet: z.string(),
  at: wall,
  store: z.strictObject({
    live: z.boolean(),
    revision: count,
    incarnation: z.string().optional(),
    keys: count,
  }),
  era: z.strictObject({ era: count, phase: z.enum(["closed", "open"]) }).optional(),
  protocol: count.optional(),
  manager: z.strictObject({ node: z.string(), since: wall }).optional(),
  members: count,
  services: z.array(serviceStatus),
  ...wishesSchema.shape,
});

export const nodeReportSchema = z.strictObject({
  node: z.string(),
  pid: count,
  uptimeMs: z.number(),
  cpuMs: z.number(),
  rssBytes: count,
  inflight: count,
  requests: count,
  refused: count,
  phases: z.record(z.string(), count),
  at: wall,
});

export const nodesSchema = z.strictObject({
  nodes: z.array(
    z.strictObject({
      node: z.string(),
      address: z.string(),
      zone: z.string(),
      version: z.string(),
      protocol: z.strictObject({ min: count, max: count }),
      capacity: z.number(),
      startedAt: wall,
      manager: z.boolean(),
      drained: z.boolean(),
      member: z.boolean(),
      held: count,
      contending: count,
      services: z.record(z.string(), count),
      report: z.union([nodeReportSchema, z.string()]).optional(),
    }),
  ),
});

const phase = z.enum(["preparing", "ready"]);

export const shardPageSchema = z.strictObject({
  replicas: z.array(
    z.strictObject({
      service: z.string(),
      shard: z.string(),
      replica: count,
      state: z.enum(REPLICA_STATES),
      node: z.string().optional(),
      epoch: epoch.optional(),
      since: wall.optional(),
      target: z.string().optional(),
      contenders: z.array(z.strictObject({ node: z.string(), phase })),
      strikes: count,
    }),
  ),
  next: z.string().optional(),
});

export const explanationSchema = z.strictObject({
  service: z.string(),
  shard: z.string(),
  placement: z.string(),
  view: count,
  replicas: z.array(
    z.strictObject({
      replica: count,
      holder: z
        .strictObject({
          node: z.string(),
          address: z.string(),
          epoch,
          since: wall,
          how: z.enum(["grant", "hand-over", "re-stamp"]),
          reason: z.string(),
          from: z.string().optional(),
        })
        .optional(),
      contenders: z.array(z.strictObject({ node: z.string(), phase, progress: z.number() })),
      candidates: z.array(z.string()),
      planReason: z.string(),
      auction: z
        .strictObject({
          round: count,
          bids: z.array(z.strictObject({ node: z.string(), freeBytes: z.number() })),
          passes: z.array(z.strictObject({ node: z.string(), reason: z.string() })),
          empties: count,
          last: z.string().optional(),
          award: z.strictObject({ node: z.string(), reason: z.string() }).optional(),
          move: z.strictObject({ by: z.string(), reason: z.string() }).optional(),
        })
        .optional(),
      decisions: z.array(
        z.strictObject({
          at: wall,
          node: z.string(),
          kind: z.string(),
          replica: z.string().optional(),
          epoch: epoch.optional(),
          reason: z.string(),
        }),
      ),
      pin: pinStatus.optional(),
    }),
  ),
  primary: z.strictObject({ node: z.string(), replica: count, epoch }).optional(),
  trouble: z.strictObject({ strikes: count, quarantined: z.boolean(), text: z.string() }).optional(),
});

export const forecastSchema = z.strictObject({
  services: z.array(
    z.strictObject({
      service: z.string(),
      placement: z.string(),
      view: count,
      replicas: count,
      moves: z.array(
        z.strictObject({
          replica: z.string(),
          from: z.string().optional(),
          to: z.string().optional(),
          reason: z.string(),
        }),
      ),
      movesTotal: count,
      nodes: z.array(z.strictObject({ node: z.string(), before: z.number(), after: z.number() })),
      note: z.string().optional(),
    }),
  ),
});

export const eventSchema = z.strictObject({
  seq: count,
  at: wall,
  kind: z.string(),
  node: z.string().optional(),
  about: z.string().optional(),
  text: z.string(),
});

export const eventPageSchema = z.strictObject({
  events: z.array(eventSchema),
  cursor: z.string(),
  missed: z.boolean(),
});

export const findingsSchema = z.strictObject({
  findings: z.array(
    z.strictObject({
      level: z.enum(["ok", "warning", "error"]),
      check: z.string(),
      says: z.string(),
      advice: z.string().optional(),
    }),
  ),
});

export const doneSchema = z.strictObject({
  done: z.string(),
  already: z.boolean(),
  change: z.strictObject({ before: z.unknown(), after: z.unknown() }).optional(),
});
