/** A held replica of a repository, as requests reach it: search, print, list, and sending its index to a node that is getting ready. */
import type { Shard, ShardRequest, ShardStats } from "@keelson/kernel";
import { CodeError } from "./code-error.ts";
import { EngineError, type NamedSymbol } from "./engine/index.ts";
import type { Current, HeldRepository } from "./held-repository.ts";
import type { RepositoryPorts } from "./repository-ports.ts";
import { linesOfShard, type LinesEnd } from "./search/shard-lines.ts";
import { searchShard } from "./search/shard-search.ts";
import type {
  AnsweringRepository,
  LinesBegin,
  LinesRequest,
  PackedAnswer,
  SearchRequest,
} from "./search/search-request.ts";

interface PrintRequest {
  readonly path: string;
  /** The default branch when left out. */
  readonly branch?: string | undefined;
}

export interface PrintAnswer {
  readonly repository: AnsweringRepository;
  readonly path: string;
  readonly language: string;
  readonly branches: readonly string[];
  readonly content: Uint8Array;
  /** In the order of the text. Empty while nobody has read them yet. */
  readonly symbols: readonly NamedSymbol[];
  /** Why its content is not in the index. */
  readonly skipped?: string;
}

/** A file larger than this does not fit into an answer. */
const printBytesMax = 12 << 20;
/** Symbols of one file; generated ones have more than anybody looks at. */
const symbolsMax = 20_000;
/** Of the time that the caller waits; the rest is for the way back. */
const timeShare = 0.9;

export class RepositoryShard implements Shard {
  readonly #held: HeldRepository;
  readonly #ports: RepositoryPorts;

  constructor(held: HeldRepository, ports: RepositoryPorts) {
    this.#held = held;
    this.#ports = ports;
  }

  async handle(request: ShardRequest): Promise<unknown> {
    switch (request.method) {
      case "search":
        return this.#search(request.body as SearchRequest, request);
      case "print":
        return this.#print(request.body as PrintRequest);
      case "send": {
        const { index, heads, submodules } = this.#current();
        return this.#ports.transfers.begin(index, heads, submodules);
      }
      case "piece":
        return this.#ports.transfers.next(String(request.body));
      case "verify":
        return this.#held.verify();
      default:
        throw new CodeError(
          "BAD_REQUEST",
          `a repository is asked for search, print, send, piece or verify, not ${request.method}`,
        );
    }
  }

  stream(request: ShardRequest): AsyncIterable<unknown> {
    if (request.method === "lines") return this.#lines(request.body as LinesRequest, request);
    throw new CodeError("BAD_REQUEST", `a repository streams lines, not ${request.method}`);
  }

  close(): Promise<void> {
    this.#held.deactivate();
    return Promise.resolve();
  }

  stats(): ShardStats {
    return { sizeBytes: this.#held.memoryBytes, load: this.#held.traffic.rate(this.#ports.clock.wall()) };
  }

  async #search(search: SearchRequest, request: ShardRequest): Promise<PackedAnswer> {
    let current = this.#current();
    const { problem, repository } = this.#held;
    const asked = withinTime(search, request.timeoutMs);
    const ending = endingOf(request);
    try {
      const inCurrent = (): ReturnType<typeof searchShard> =>
        searchShard(current.index, repository, asked, this.#ports, ending.signal);
      const { release, ...answer } = await inCurrent().catch((error: unknown) => {
        current = this.#newer(error, current);
        return inCurrent();
      });
      if (request.left) void request.left.then(() => release(true));
      else release();
      this.#held.served();
      this.#ports.metrics.count("code_searches_total");
      return {
        repository: this.#about(current),
        ...answer,
        ...(problem ? { stale: problem.message } : {}),
      };
    } catch (error) {
      this.#lookInto(error);
      throw error;
    } finally {
      ending.forget();
    }
  }

  /** First which commits they are of, then lines in parts, then what was counted. */
  async *#lines(
    asked: LinesRequest,
    request: ShardRequest,
  ): AsyncGenerator<LinesBegin | Uint8Array | LinesEnd> {
    const ending = endingOf(request);
    const { clock, matcher, metrics } = this.#ports;
    const deadline = clock.now() + asked.timeCapMs;
    let leave: (() => void) | undefined;
    let found: AsyncGenerator<Uint8Array | LinesEnd> | undefined;
    try {
      leave = await this.#turn(asked.timeCapMs, ending.signal);
      let current = this.#current();
      const { problem, repository } = this.#held;
      const begin = (): LinesBegin => ({
        repository: this.#about(current),
        ...(problem ? { stale: problem.message } : {}),
      });
      const timeCapMs = deadline - clock.now();
      if (!leave || timeCapMs < 1) {
        yield begin();
        yield { counts: NO_LINES, partial: "time-cap" };
        return;
      }
      const inCurrent = (): Promise<IteratorResult<Uint8Array | LinesEnd>> => {
        found = linesOfShard(current.index, repository, { ...asked, timeCapMs }, matcher, ending.signal);
        return found.next();
      };
      const first = await inCurrent().catch((error: unknown) => {
        current = this.#newer(error, current);
        return inCurrent();
      });
      // From here on the search keeps the index that it is of.
      yield begin();
      yield first.value as Uint8Array | LinesEnd;
      yield* found!;
      this.#held.served();
      metrics.count("code_searches_total");
    } catch (error) {
      this.#lookInto(error);
      throw error;
    } finally {
      await found?.return(undefined);
      leave?.();
      ending.forget();
    }
  }

  /** What to ask instead when a newer commit came between two questions to the one before, or just before the first; throws the error when that is not so. */
  #newer(error: unknown, current: Current): Current {
    const newer = this.#held.current;
    const closed = error instanceof EngineError && error.code === "CLOSED";
    if (!closed || newer === undefined || newer === current) throw error;
    return newer;
  }

  /** Undefined when none came in time. */
  async #turn(withinMs: number, signal: AbortSignal): Promise<(() => void) | undefined> {
    const { clock, lines } = this.#ports;
    const late = new AbortController();
    const timer = clock.after(withinMs, () => late.abort());
    try {
      return await lines.enter(AbortSignal.any([signal, late.signal]));
    } catch (error) {
      if (late.signal.aborted && !signal.aborted) return undefined;
      throw error;
    } finally {
      timer.cancel();
    }
  }

  #lookInto(error: unknown): void {
    if (error instanceof EngineError && error.code === "CORRUPT_INDEX") void this.#held.verify();
  }

  #print({ path, branch }: PrintRequest): PrintAnswer {
    const current = this.#current();
    const { index } = current;
    const found = index.find(path, branch === undefined || branch === "HEAD" ? index.branches[0] : branch);
    if (!found)
      throw new CodeError(
        "FILE_UNKNOWN",
        `${this.#held.repository.name} has no file ${JSON.stringify(path)} on ${branch ?? "its default branch"}`,
      );
    if (found.bytes > printBytesMax)
      throw new CodeError(
        "BAD_REQUEST",
        `${path} has ${found.bytes} bytes, and ${printBytesMax} can be shown`,
      );
    this.#held.served();
    return {
      repository: this.#about(current),
      path,
      language: found.language,
      branches: found.branches,
      content: index.content(found.document),
      symbols: index.symbols(found.document).slice(0, symbolsMax),
      ...(found.skipped === undefined ? {} : { skipped: found.skipped }),
    };
  }

  #current(): Current {
    const { current, problem } = this.#held;
    if (current) return current;
    throw new CodeError("REPOSITORY_UNAVAILABLE", problem?.message ?? "it is not built yet: try again");
  }

  #about({ heads, indexedAt }: Current): AnsweringRepository {
    const { id, name, url, rank } = this.#held.repository;
    return { id, name, url, rank, heads, indexedAt };
  }
}

const NO_LINES: LinesEnd["counts"] = { files: 0, lines: 0, matches: 0 };

/** Aborted with the request. Its own signal lives as long as the tenure: what listened to it would be kept until then. */
function endingOf({ signal }: ShardRequest): { readonly signal: AbortSignal; readonly forget: () => void } {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  return { signal: ending.signal, forget: () => signal.removeEventListener("abort", end) };
}

/** A search that was tried again has less time than it began with; what it finds in that is better than nothing. */
function withinTime(search: SearchRequest, timeoutMs: number): SearchRequest {
  const timeCapMs = Math.max(1, Math.min(search.options.timeCapMs, Math.floor(timeoutMs * timeShare)));
  return { ...search, options: { ...search.options, timeCapMs } };
}
