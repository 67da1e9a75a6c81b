/** Changes the catalogue: repositories in and off, pins, and what servers of repositories say through their webhooks. */
import { route, type FleetAccess } from "@keelson/runtime";
import { z } from "zod";
import type { RepositoryStatus } from "../catalogue-shard.ts";
import type { Repository } from "../repository.ts";
import { pageRowsMax, pageRowsUsual, type Page } from "../repository-page.ts";
import { SIGNATURES, SIGNED_WITH } from "../webhook-check.ts";
import { askCatalogue } from "./ask-catalogue.ts";
import { directoryOf } from "./directory.ts";
import { EVENTS, Push, otherEventOf, pushedOf } from "./pushed-repository.ts";

const Name = z.string().min(1).max(512);

const Settable = {
  branches: z
    .array(z.string().min(1).max(256))
    .max(64)
    .optional()
    .describe("names, HEAD, or patterns with *"),
  archived: z.boolean().optional(),
  fork: z.boolean().optional(),
  public: z.boolean().optional(),
  metadata: z.record(z.string().max(64), z.string().max(512)).optional(),
  rank: z.int().min(0).max(65_535).optional(),
  pinned: z.boolean().optional().describe("never evicted"),
  maxBids: z
    .int()
    .min(1)
    .nullable()
    .optional()
    .describe("answers at which its auctions close; null: as for all others"),
  zones: z
    .array(z.string().min(1).max(64))
    .max(16)
    .optional()
    .describe("zones that it should be in if there is room, best first"),
};

const Added = z.object({
  url: z.string().describe("a git address, or the absolute path of a folder on the nodes"),
  name: Name.optional(),
  ...Settable,
});

export const add = route({
  verb: "POST",
  path: "/repositories",
  summary: "Add repositories",
  body: z.object({ repositories: z.array(Added).min(1).max(500) }),
  answer: z.object({ repositories: z.array(z.looseObject({ id: z.int(), name: z.string() })) }),
  scope: "write",
  mode: "write",
  to: {
    kind: "custom",
    handle: async ({ body }, { access, trace }) => ({
      repositories: (await changed<Repository[]>(access, "add", body, trace)).map((row) => ({ ...row })),
    }),
  },
});

export const remove = route({
  verb: "POST",
  path: "/repositories/remove",
  summary: "Take repositories off",
  body: z.object({ names: z.array(Name).min(1).max(500) }),
  answer: z.object({ changed: z.int() }),
  scope: "write",
  mode: "write",
  to: { kind: "custom", handle: ({ body }, { access }) => changed(access, "remove", body) },
});

export const set = route({
  verb: "POST",
  path: "/repositories/set",
  summary: "Change what is said of repositories: pins, branches, metadata",
  body: z.object({ names: z.array(Name).min(1).max(500), ...Settable }),
  answer: z.object({ changed: z.int() }),
  scope: "write",
  mode: "write",
  to: { kind: "custom", handle: ({ body }, { access }) => changed(access, "set", body) },
});

export const auctions = route({
  verb: "POST",
  path: "/auctions",
  summary: "Change at how many answers auctions close, or look at it",
  description:
    "By itself an auction closes when all live nodes have answered, and nothing need be said here. A number that is set instead has to follow the fleet: `joining` raises it before so many nodes are started, `gone` lowers it after so many have drained. With an empty body nothing changes.",
  body: z.object({
    maxBids: z.int().min(1).nullable().optional().describe("null: as many as there are live nodes"),
    joining: z.int().min(1).optional(),
    gone: z.int().min(1).optional(),
  }),
  answer: z.object({ maxBids: z.int().nullable() }),
  scope: "admin",
  mode: "write",
  to: { kind: "custom", handle: ({ body }, { access }) => askCatalogue(access, "auctions", body) },
});

export const status = route({
  verb: "GET",
  path: "/repositories",
  summary: "Repositories, a page at a time: who holds them, at which commit, and what is wrong",
  query: z.object({
    name: z.string().max(512).optional().describe("only repositories whose name contains this"),
    after: z.coerce.number().int().min(0).optional().describe("the next of the page before"),
    limit: z.coerce.number().int().min(1).max(pageRowsMax).default(pageRowsUsual),
  }),
  answer: z.object({
    revision: z.int(),
    repositories: z.array(z.looseObject({ id: z.int(), name: z.string() })),
    total: z.int().describe("repositories that there are, whatever was asked for"),
    next: z.int().optional().describe("what the next page comes after; left out on the last one"),
  }),
  scope: "read",
  mode: "read",
  to: {
    kind: "custom",
    handle: async ({ query }, { access }) => {
      const page = await askCatalogue<Page<RepositoryStatus>>(access, "status", query);
      return { ...page, repositories: page.repositories.map((row) => ({ ...row })) };
    },
  },
});

export const webhook = route({
  verb: "POST",
  path: "/webhook",
  summary: "Say that a repository has new commits, as GitHub, GitLab and others do on a push",
  description:
    "Needs a token that may write, or a signature made with a secret that the nodes know as webhookSecret: X-Hub-Signature-256, X-Gitea-Signature, X-Hub-Signature with SHA-256, Webhook-Signature, or X-Gitlab-Token.",
  body: Push,
  answer: z.object({
    poked: z.int().describe("repositories that are looked at now"),
    ignored: z.string().optional().describe("what happened, when that is no news of commits"),
  }),
  scope: "write",
  signed: {
    signatures: SIGNATURES,
    headers: [...SIGNED_WITH, ...EVENTS],
    formField: "payload",
    prove: async (sent, { access, trace }) => {
      const isSigned = SIGNATURES.some((name) => sent.headers[name] !== undefined);
      if (isSigned || !sent.proven) await askCatalogue(access, "signed", sent, { trace });
    },
  },
  mode: "write",
  // What is not proven yet is read into memory too: a quarter of what all requests may take.
  limits: { bodyBytesMax: 4 << 20, inflightMax: 16 },
  to: {
    kind: "custom",
    handle: async ({ body }, { access, sent, trace }) => {
      const ignored = otherEventOf(sent?.headers ?? {});
      return ignored === undefined
        ? askCatalogue(access, "poke", pushedOf(body), { trace })
        : { poked: 0, ignored };
    },
  },
});

/** Changes the catalogue. Even a change that failed may have been made. */
async function changed<T>(
  access: FleetAccess,
  method: "add" | "remove" | "set",
  body: unknown,
  trace?: string,
): Promise<T> {
  try {
    return await askCatalogue<T>(access, method, body, { trace });
  } finally {
    directoryOf(access).changed();
  }
}
