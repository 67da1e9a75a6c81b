/**
 * From a remote to an index: looks which commits there are, fetches them, lists the files, and builds; with a former index, only what differs is read. It knows
 * nothing of who holds what, and keeps nothing.
 */
import type { Span, Tracer } from "@keelson/runtime";
import { EngineError, Turns, type CodeEngine, type CodeIndex } from "./engine/index.ts";
import {
  GitError,
  listFiles,
  parseRemote,
  readDocuments,
  type Clone,
  type CloneCache,
  type DocumentLimits,
  type FileList,
  type Head,
} from "./git/index.ts";
import type { Limiter } from "./limiter.ts";
import type { Repository } from "./repository.ts";

export interface BuildPorts {
  readonly engine: CodeEngine;
  readonly clones: CloneCache;
  readonly limits: DocumentLimits;
  /** So many are built at once. Servers are waited for before: one that says nothing takes nobody's place. */
  readonly builds: Limiter;
  readonly now: () => number;
  /** Told how much it is before it is built; rejects when there is no room for it. */
  readonly room: (contentBytes: number, files: number) => Promise<void>;
  readonly tracer?: Tracer | undefined;
  readonly span?: Span | undefined;
}

/** An index with what it is of. */
export interface Built {
  readonly index: CodeIndex;
  readonly heads: readonly Head[];
  readonly buildMs: number;
  readonly fetchMs: number;
  readonly submodules: number;
}

interface BuildRequest {
  readonly repository: Repository;
  /** What is unchanged is taken from here. */
  readonly previous?: Pick<Built, "index" | "heads"> | undefined;
  readonly signal: AbortSignal;
  readonly progress?: (fraction: number) => void;
  /** Told which branches are wanted and not there, even when nothing is built. */
  readonly missing?: (branches: readonly string[]) => void;
}

/** Undefined when the previous one is of the same commits. Throws GitError and EngineError. */
export async function build(ports: BuildPorts, request: BuildRequest): Promise<Built | undefined> {
  const { repository, signal } = request;
  const remote = parseRemote(repository.url);
  const built = async (clone: Clone): Promise<Built | undefined> => {
    try {
      return await buildFrom(clone, ports, request);
    } catch (error) {
      // A clone that git cannot read is no reason to fail: there is another where it came from.
      if (!(error instanceof GitError) || error.code !== "GIT_FAILED") throw error;
      await clone.remove();
      return buildFrom(clone, ports, request);
    }
  };
  return ports.clones.with(remote, repository.branches, built, signal);
}

async function buildFrom(clone: Clone, ports: BuildPorts, request: BuildRequest): Promise<Built | undefined> {
  const { previous, signal } = request;
  const startedAt = ports.now();
  const cloning = ports.tracer?.start("clone", "internal", ports.span?.traceparent);
  let heads: readonly Head[];
  try {
    heads = await clone.look(signal);
    request.missing?.(clone.missing);
    // The span is left without an end, and so is not told: most looks find nothing new.
    if (previous && sameHeads(heads, previous.heads)) return undefined;
    // Servers that are being set up anew say so for a while, and what was there is better than nothing.
    if (heads.length === 0 && previous && previous.heads.length > 0)
      throw new GitError(
        "NO_BRANCH",
        `${request.repository.name}: it had commits, and has none of its branches any more: it is looked at again`,
      );
    await clone.fetch(heads, signal);
    cloning?.end();
  } catch (error) {
    cloning?.end(String(error));
    throw error;
  }
  const fetchMs = ports.now() - startedAt;
  return ports.builds.run(() => indexed(clone, heads, fetchMs, ports, request), signal);
}

async function indexed(
  clone: Clone,
  heads: readonly Head[],
  fetchMs: number,
  ports: BuildPorts,
  request: BuildRequest,
): Promise<Built> {
  const startedAt = ports.now();
  const list = await listFiles(clone.folder, heads, ports.limits, request.repository.name, request.signal);
  await ports.room(list.contentBytes, list.files.length);
  const indexing = ports.tracer?.start("index", "internal", ports.span?.traceparent);
  try {
    const index = await index_(clone, list, heads, ports, request);
    indexing?.set("documents", index.stats.documents).end();
    return { index, heads, fetchMs, buildMs: ports.now() - startedAt, submodules: list.submodules };
  } catch (error) {
    indexing?.end(String(error));
    throw error;
  }
}

async function index_(
  clone: Clone,
  list: FileList,
  heads: readonly Head[],
  ports: BuildPorts,
  { repository, previous, signal, progress }: BuildRequest,
): Promise<CodeIndex> {
  const had = new Set<string>();
  const turns = new Turns();
  for (const { path, oid } of previous?.index.documents() ?? []) {
    had.add(`${oid}\0${path}`);
    if (!turns.due) continue;
    await turns.give();
    // Whoever aborts releases the index that is read here.
    signal.throwIfAborted();
  }
  const documents = readDocuments(clone.folder, list, {
    limits: ports.limits,
    known: (path, oid) => had.has(`${oid}\0${path}`),
    what: repository.name,
    signal,
    ...(progress ? { progress } : {}),
  });
  return ports.engine.build(documents, {
    branches: heads.map(({ branch }) => branch),
    documentBytesMax: ports.limits.fileBytesMax,
    signal,
    ...(previous ? { previous: previous.index } : {}),
  });
}

function sameHeads(one: readonly Head[], other: readonly Head[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ branch, commit }, i) => other[i]?.branch === branch && other[i].commit === commit)
  );
}

/** The engine's own word for it, with what would help. */
export function noRoom(repository: Repository, needsBytes: number, hasBytes: number): EngineError {
  return new EngineError(
    "OUT_OF_MEMORY",
    `${repository.name} needs about ${Math.ceil(needsBytes / 2 ** 20)} MB, and this node has ${Math.floor(hasBytes / 2 ** 20)} MB: add a node with more memory, or leave it out`,
  );
}
