/**
 * Searches one index for one request: what the query says of the repository is settled, `type:repo` is answered, the engine does the rest, and the answer is kept
 * below the size of a frame and within the memory that the node has for answers.
 */
import type { Clock } from "@keelson/kernel";
import { EngineError, type CodeIndex, type FileMatch } from "../engine/index.ts";
import type { RepositoryFacts, TextMatcher } from "../query/index.ts";
import type { AnswerMemory, HeldAnswer } from "./answer-memory.ts";
import { branchesMeant } from "./branches-meant.ts";
import { facetFilesMax, facetsOf } from "./facets.ts";
import { PackingTaker } from "./packing-taker.ts";
import type { PackedAnswer, SearchRequest } from "./search-request.ts";
import { asksForSymbols, settle } from "./settle.ts";
import { translate } from "./translate.ts";

/** Of the time cap, until an answer that found no room is given without its files: what is left is for making them. */
const waitShare = 0.9;

interface ShardSearchPorts {
  readonly matcher: TextMatcher;
  readonly answers: AnswerMemory;
  /** Of what searches found that wait until their answers have memory. */
  readonly found: AnswerMemory;
  readonly clock: Clock;
}

type Searched = Pick<PackedAnswer, "packed" | "counts" | "partial" | "facets"> & {
  /** The answer has gone its way; with `reusable`, nobody looks at what was packed any more. */
  readonly release: (reusable?: boolean) => void;
};

export async function searchShard(
  index: CodeIndex,
  facts: RepositoryFacts,
  { query, options }: SearchRequest,
  ports: ShardSearchPorts,
  signal: AbortSignal,
): Promise<Searched> {
  const { timeCapMs } = options;
  const { matcher, answers, found, clock } = ports;
  const startedAt = clock.now();
  const waitMs = (): number => startedAt + timeCapMs * waitShare - clock.now();
  const hold = (bytes: number): Promise<HeldAnswer | undefined> => answers.hold(bytes, waitMs(), signal);
  const { settled, ...unsure } = await settle(index, facts, query, { matcher, timeCapMs, signal });
  if (settled.kind === "const" && !settled.value) return { ...NOTHING, ...unsure };
  const { filesShownMax, matchesShownMax, matchesMax, contextLines, whole, facets = false } = options;
  const { bm25 = false, explain = false } = options;
  const symbolsLack = asksForSymbols(settled) && !index.stats.symbols;
  const narrowed = branchesMeant(settled, index);
  const search = async (taker: PackingTaker): Promise<Searched> => {
    try {
      const result = await index.search(translate(settled), {
        timeCapMs: Math.max(1, startedAt + timeCapMs - clock.now()),
        signal,
        taker: {
          begin: (bytes, foundBytes) => taker.begin(bytes, foundBytes),
          take: (file) => taker.take({ ...named(file), branches: narrowed(file.branches) }),
          more: (lines) => taker.more(lines),
        },
        bytesShownMax: answers.answerBytesMax,
        bm25,
        explain,
        // Facets are of more files than are shown.
        ...(facets ? { filesListedMax: Math.max(filesShownMax ?? 0, facetFilesMax) } : {}),
        ...(matchesMax === undefined ? {} : { matchesMax }),
        ...(filesShownMax === undefined ? {} : { filesShownMax }),
        ...(matchesShownMax === undefined ? {} : { matchesShownMax }),
        ...(contextLines === undefined ? {} : { contextLines }),
        ...(whole === undefined ? {} : { whole }),
      });
      const partial =
        taker.partial ?? result.partial ?? unsure.partial ?? (symbolsLack ? "symbols" : undefined);
      const { listed = [], counts } = result;
      return {
        packed: taker.finish(),
        counts,
        release: (reusable = false) => taker.release(reusable),
        ...(partial === undefined ? {} : { partial }),
        ...(facets ? { facets: facetsOf([...taker.taken, ...listed], counts.files) } : {}),
      };
    } catch (error) {
      taker.release(true);
      throw error;
    } finally {
      taker.ended();
    }
  };
  const terms = { answers, found, hold, signal };
  const first = new PackingTaker(terms);
  const searched = await search(first);
  if (first.againBytes === undefined) return searched;
  // Many large answers wait: with what each of them found they would take more than the answers themselves, so this one is searched for again when it may keep it.
  const foundHeld = await found.hold(first.againBytes, waitMs(), signal);
  if (foundHeld === undefined) return searched;
  try {
    return await search(new PackingTaker(terms, foundHeld));
  } catch (error) {
    // A newer commit came meanwhile. What was counted is true of the one before, and says that files are missing.
    if (error instanceof EngineError && error.code === "CLOSED") return searched;
    throw error;
  }
}

/** Where no text was looked for, as with `lang:go`, the whole name is the match: to zoekt's clients a file without one is none. */
function named(file: FileMatch): FileMatch {
  if (file.lines.length > 0 || file.pathRanges.length > 0) return file;
  return { ...file, pathRanges: [{ start: 0, end: Buffer.byteLength(file.path) }] };
}

const NOTHING: Searched = {
  packed: new Uint8Array(0),
  counts: { files: 0, lines: 0, matches: 0, documents: 0, documentsScanned: 0, bytesScanned: 0 },
  release: () => undefined,
};
