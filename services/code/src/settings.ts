/** The section `[code]` of a config file. Every key has a default; sizes may be written like 512MB. */
import { z } from "zod";
import { indexBytesMin } from "./process-memory.ts";
import { webhookSecretsMax } from "./webhook-check.ts";

const UNITS: Readonly<Record<string, number>> = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };
const SIZE = /^(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?$/i;

const size = z
  .union([z.int().min(0), z.string().regex(SIZE, "write a size like 512MB or 2GB")])
  .transform((value) => {
    if (typeof value === "number") return value;
    const [, number = "0", unit = ""] = SIZE.exec(value) ?? [];
    return Math.floor(Number(number) * UNITS[unit.toLowerCase()]!);
  });

const secretSource = z
  .string()
  .regex(/^(?:env|file|command):./, "write env:NAME, file:/path or command:program");

const credential = z.object({
  host: z.string().describe("github.com, or * for any"),
  username: z.string().default("git"),
  from: secretSource,
});

const settings = z.object({
  memory: size
    .default(1 << 30)
    .describe("what the process may take in all; indexes get what is left beside the process itself"),
  processMemory: size
    .default(192 << 20)
    .describe("what the process takes besides indexes, two builds included"),
  workers: z.int().min(1).max(64).default(2).describe("threads that search"),
  replicas: z.int().min(1).max(9).default(1).describe("nodes that hold each repository"),
  buildsMax: z.int().min(1).max(64).default(2).describe("indexes that are built at once"),
  clonesMax: z.int().min(1).default(2_000).describe("clones that are kept on disk"),
  mirror: z.string().optional().describe("a folder or address with <host>/<path>.git of many repositories"),
  zones: z
    .array(z.string().min(1).max(64))
    .max(16)
    .default([])
    .describe(
      "zones that repositories should be in if there is room, best first: near the mirror, or near readers",
    ),
  credentials: z.array(credential).default([]),
  webhookSecret: z
    .preprocess(
      (given) => (typeof given === "string" ? [given] : given),
      z.array(secretSource).max(webhookSecretsMax),
    )
    .default([])
    .describe(
      "what webhooks of git servers are signed with: env:NAME, file:/path or command:program; a list of them while one is exchanged for another",
    ),
  fileBytesMax: size.default(2 << 20).describe("larger files are listed by path alone"),
  repositoryBytesMax: size.default(8 * 2 ** 30),
  guess: size
    .default(64 << 20)
    .describe("what a repository is expected to take before anything is known of it"),
  gitTimeoutMs: z.int().min(1).default(600_000),
  pollMs: z.int().min(100).default(60_000).describe("how often each repository is looked at for new commits"),
  reindexObjectiveMs: z
    .int()
    .min(1)
    .default(300_000)
    .describe(
      "a new commit should be searchable within this, and a lost index again; alerts say when it is not",
    ),
  verifyMs: z
    .int()
    .min(0)
    .default(600_000)
    .describe("how often each index is read against its checksums; 0 never"),
  evict: z
    .enum(["lru", "cost"])
    .default("lru")
    .describe("lru: not asked for longest goes first; cost: least asked for by size"),
  evictIdleMs: z
    .int()
    .min(0)
    .default(60_000)
    .describe("nothing that was asked for in this time makes room for others"),
  evictResidenceMs: z
    .int()
    .min(0)
    .default(60_000)
    .describe("nothing that came in this time makes room for others"),
  snapshots: z
    .object({
      bytesMin: size.default(256 << 20),
      bytesMax: size.default(64 * 2 ** 30).describe("of all that are kept together"),
    })
    .optional()
    .describe("keep indexes from this size on disk, for restarts"),
  ctags: z.boolean().default(true).describe("find symbols with universal-ctags, when it is installed"),
  patienceMs: z
    .int()
    .min(0)
    .default(500)
    .describe("how long a search waits for a repository that nobody holds"),
  scale: z
    .object({
      webhook: z.url().optional().describe("told when more or fewer nodes are wanted"),
      unclaimedMax: z.int().min(0).default(0).describe("repositories that nobody holds"),
      claimLatencyMsMax: z.int().min(1).default(120_000),
      saturationMax: z
        .number()
        .min(0)
        .max(1)
        .default(0.9)
        .describe("share of the fleet's memory that is taken"),
      saturationLow: z.number().min(0).max(1).default(0.4),
      processorsMax: z
        .number()
        .min(0)
        .max(1)
        .default(0.9)
        .describe("share of the fleet's processors that is used"),
      sustainMs: z
        .int()
        .min(0)
        .default(300_000)
        .describe(
          "how long the fleet must be quiet before fewer nodes are wanted, or its processors busy before more are",
        ),
    })
    .prefault({}),
  auction: z
    .object({
      windowMs: z.int().min(1).default(60_000),
      emptiesMax: z.int().min(1).default(5),
      emptyPauseMs: z.int().min(1).default(1_000),
      silentMs: z
        .int()
        .min(1)
        .default(600)
        .describe("a node that has not answered by then is not waited for: auctions close within a second"),
      elsewhereMs: z
        .int()
        .min(1)
        .default(250)
        .describe("a node whose bid is on another repository passes after this"),
    })
    .prefault({}),
});

/** What the process takes besides indexes is part of what it may take: a budget that is smaller than that could not be kept. */
export const codeSettings = settings.superRefine(({ memory, processMemory }, context) => {
  if (memory - processMemory >= indexBytesMin) return;
  const [given, own, least] = [memory, processMemory, processMemory + indexBytesMin].map(megabytes);
  context.addIssue({
    code: "custom",
    path: ["memory"],
    message: `${given} MB is too little: the process takes up to ${own} MB besides indexes (processMemory), and these need ${megabytes(indexBytesMin)} MB: give it ${least} MB or more`,
  });
});

export type CodeSettings = z.output<typeof codeSettings>;

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20);
}
