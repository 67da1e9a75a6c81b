/** The feed's frames as schemas, for the API's documents. A test reads real frames with them, strictly, so that they and the frames stay the same. */
import { z } from "zod";
import { eventSchema, nodeReportSchema, wishesSchema } from "../schemas.ts";

const count = z.number().int().nonnegative();
const index = z.number().int().min(-1);
const wall = z.number().describe("wall clock in milliseconds");
const numbers = z.array(z.number());

const node = z.strictObject({
  i: count,
  node: z.string(),
  address: z.string(),
  zone: z.string(),
  version: z.string(),
  capacity: z.number(),
  startedAt: wall,
  member: z.boolean(),
  drained: z.boolean(),
  manager: z.boolean(),
  load: z.number().optional(),
  bytes: z.number().optional(),
  budgetBytes: z.number().optional(),
});

const service = z.strictObject({
  i: count,
  service: z.string(),
  placement: z.string(),
  view: count,
  members: count,
  shards: count,
  replicas: count,
  states: z.strictObject({ held: count, moving: count, unheld: count, quarantined: count }),
});

const added = z.strictObject({
  service: count,
  from: count,
  replicas: count,
  shards: z.union([z.array(z.string()), z.strictObject({ from: count, count })]),
});

const rows = z.strictObject({
  i: z.array(count),
  holder: z.array(index),
  target: z.array(index),
  state: z.string().regex(/^[hmuq]*$/),
  era: numbers,
  revision: numbers,
  since: numbers,
  strikes: numbers,
});

const lot = z.strictObject({
  replica: count,
  closed: z.literal(true).optional(),
  round: count,
  bids: z.array(z.strictObject({ node: z.string(), freeBytes: z.number() })),
  passes: z.array(z.strictObject({ node: z.string(), reason: z.string() })),
  empties: count,
  last: z.string().optional(),
  award: z.strictObject({ node: z.string(), reason: z.string() }).optional(),
  move: z.strictObject({ by: z.string(), reason: z.string() }).optional(),
});

const changes = z.strictObject({
  kind: z.literal("changes"),
  at: wall,
  cursor: z.string().optional(),
  status: z
    .strictObject({
      storeLive: z.boolean(),
      era: z.strictObject({ era: count, phase: z.enum(["closed", "open"]) }).optional(),
      protocol: count.optional(),
      manager: z.strictObject({ node: z.string(), since: wall }).optional(),
    })
    .optional(),
  nodes: z.array(node).optional(),
  counts: z.array(z.tuple([count, count, count, z.number()])).optional(),
  services: z.array(service).optional(),
  added: z.array(added).optional(),
  removed: z.array(count).optional(),
  rows: rows.optional(),
  contenders: z
    .array(z.tuple([count, z.array(z.tuple([count, z.enum(["preparing", "ready"]), z.number()]))]))
    .optional(),
  weights: z.strictObject({ i: z.array(count), load: numbers, bytes: numbers }).optional(),
  lots: z.array(lot).optional(),
  wishes: wishesSchema.optional(),
  alerts: z
    .array(
      z.strictObject({
        id: z.string(),
        level: z.enum(["warning", "error"]),
        text: z.string(),
        advice: z.string(),
        since: wall,
      }),
    )
    .optional(),
  events: z.array(eventSchema).optional(),
  eventsLeftOut: count.optional(),
});

export const feedFrameSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("reset"), fleet: z.string(), at: wall }),
  changes,
  z.strictObject({ kind: z.literal("live"), cursor: z.string() }),
  z.strictObject({
    kind: z.literal("report"),
    node: z.string(),
    report: z.union([nodeReportSchema, z.string()]),
  }),
]);
