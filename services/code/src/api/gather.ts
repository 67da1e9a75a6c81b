/**
 * Puts the answers of many repositories together: best first, with exact counts, and with everything that is missing. However many files match, it keeps no more of them than can be
 * shown, and no more than a bound of its own.
 */
import { bestLines, type LineMatch, type FileMatch } from "../engine/index.ts";
import type { AnsweringRepository } from "../search/search-request.ts";
import type { Missing, SearchEvent } from "./fleet-search.ts";
import { shownSize, type ShownAs } from "./shown-size.ts";

export interface FoundFile {
  readonly file: FileMatch;
  readonly repository: AnsweringRepository;
}

export interface FleetAnswer {
  readonly files: readonly FoundFile[];
  readonly repositories: readonly AnsweringRepository[];
  readonly missing: readonly Missing[];
  /** Why there may be more than is told, besides what is missing. */
  readonly limits: readonly { readonly repository: string; readonly why: string }[];
  readonly counts: {
    readonly asked: number;
    readonly leftOut: number;
    readonly files: number;
    readonly matches: number;
    readonly lines: number;
    readonly documents: number;
    readonly documentsScanned: number;
    readonly bytesScanned: number;
    /** Repositories whose answers came too late to be looked at: there was enough. */
    readonly notWaitedFor: number;
  };
}

const WHY: Readonly<Record<string, string>> = {
  "time-cap": "time ran out: allow more time, or ask for less",
  "matches-max": "it stopped at the greatest number of matches that was asked for",
  cancelled: "the search was cancelled",
  "answer-bytes": "the answer was too large: ask for fewer files",
  "answer-memory":
    "its node has as many large answers under way as it has memory for: try again, or ask for fewer files",
  "stream-memory":
    "what was found was not read as fast as it came, by this reader or by others: read faster, or ask for fewer files",
  symbols:
    "its symbols are not known: they have not been read yet, or its node has no universal-ctags; search for the name as a word",
};

/** Files in one answer, and what they take, whoever asks for however many. */
export const filesShownMax = 10_000;
const answerBytesMax = 48 << 20;
/** So many more than can be shown are kept before they are sorted and cut: few enough to do it in a few milliseconds. */
const spareMin = 256;
const spareShare = 0.25;

interface GatherLimits {
  readonly filesMax?: number | undefined;
  /** Matches that are shown. */
  readonly matchesMax?: number | undefined;
  /** So many matches are enough: what has not answered by then is not waited for. */
  readonly matchesEnough?: number | undefined;
  /** As chunks when left out. */
  readonly shownAs?: ShownAs | undefined;
}

export async function gather(
  events: AsyncIterable<SearchEvent>,
  limits: GatherLimits = {},
  bytesMax: number = answerBytesMax,
): Promise<FleetAnswer> {
  const kept = new Kept(limits, bytesMax);
  const repositories: AnsweringRepository[] = [];
  const missing: Missing[] = [];
  const limited: { repository: string; why: string }[] = [];
  const counts = {
    asked: 0,
    leftOut: 0,
    files: 0,
    matches: 0,
    lines: 0,
    documents: 0,
    documentsScanned: 0,
    bytesScanned: 0,
    notWaitedFor: 0,
  };
  for await (const event of events) {
    if (event.kind === "missing") missing.push(event.missing);
    else if (event.kind === "begin") {
      counts.asked = event.asked;
      counts.leftOut = event.leftOut;
      if (event.problem !== undefined) missing.push({ repository: "", code: "LIST_OLD", why: event.problem });
    } else {
      const { answer } = event;
      const { repository, files, partial, stale } = answer;
      repositories.push(repository);
      for (const file of files) kept.add({ file, repository });
      if (partial !== undefined) limited.push({ repository: repository.name, why: WHY[partial] ?? partial });
      if (stale !== undefined)
        limited.push({ repository: repository.name, why: `its commit may be old: ${stale}` });
      for (const name of [
        "files",
        "matches",
        "lines",
        "documents",
        "documentsScanned",
        "bytesScanned",
      ] as const)
        counts[name] += answer.counts[name];
      const found = limits.shownAs?.linesApart === true ? counts.lines : counts.matches;
      if (found >= (limits.matchesEnough ?? Infinity)) {
        const left = counts.asked - repositories.length - missing.length;
        counts.notWaitedFor = Math.max(0, left);
        if (left > 0)
          limited.push({
            repository: "",
            why: `${left} repositories were not waited for: there are as many matches as were asked for (TotalMaxMatchCount)`,
          });
        break;
      }
    }
  }
  // Answers come in any order; what is equal is put in the order of names and files, so that the same search shows the same.
  const found = kept.best();
  if (kept.leftOut > 0)
    limited.push({
      repository: "",
      why: `the answer was too large: ${kept.leftOut} files are not shown; ask for fewer (MaxDocDisplayCount), or for something rarer`,
    });
  missing.sort((a, b) => (a.repository < b.repository ? -1 : 1));
  repositories.sort((a, b) => a.id - b.id);
  return { files: shown(found, limits), repositories, missing, limits: limited, counts };
}

const AS_CHUNKS: ShownAs = { linesApart: false, contextLines: 0 };

/** The best files so far: what cannot be shown any more is not kept until the last repository has answered. */
class Kept {
  /** That many were asked for. */
  readonly #asked: number;
  readonly #filesMax: number;
  readonly #bytesMax: number;
  readonly #spare: number;
  readonly #shownAs: ShownAs;
  #files: { readonly found: FoundFile; readonly bytes: number }[] = [];
  #bytes = 0;
  /** Files that were asked for and are too many, or too large. */
  leftOut = 0;

  constructor({ filesMax, shownAs = AS_CHUNKS }: GatherLimits, bytesMax: number) {
    this.#asked = filesMax ?? Infinity;
    this.#shownAs = shownAs;
    this.#filesMax = Math.min(this.#asked, filesShownMax);
    this.#bytesMax = bytesMax;
    this.#spare = Math.max(spareMin, this.#filesMax * spareShare);
  }

  add(found: FoundFile): void {
    const bytes = shownSize(found.file, this.#shownAs);
    this.#files.push({ found, bytes });
    this.#bytes += bytes;
    if (this.#files.length > this.#filesMax + this.#spare || this.#bytes > 2 * this.#bytesMax) this.#cut();
  }

  best(): FoundFile[] {
    this.#cut();
    return this.#files.map(({ found }) => found);
  }

  #cut(): void {
    const files = this.#files.sort((a, b) => compare(a.found, b.found));
    let end = 0;
    let bytes = 0;
    for (; end < files.length && end < this.#filesMax; end++) {
      if (bytes + files[end]!.bytes > this.#bytesMax) break;
      bytes += files[end]!.bytes;
    }
    this.leftOut += Math.max(0, Math.min(files.length, this.#asked) - end);
    files.length = end;
    this.#bytes = bytes;
  }
}

function compare(a: FoundFile, b: FoundFile): number {
  return (
    b.file.score - a.file.score ||
    b.repository.rank - a.repository.rank ||
    a.file.path.length - b.file.path.length ||
    inOrder(a.file.path, b.file.path) ||
    a.repository.id - b.repository.id ||
    // The same path on several branches: numbers of documents differ between replicas.
    inOrder(a.file.oid, b.file.oid)
  );
}

function inOrder(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function shown(
  found: readonly FoundFile[],
  { filesMax = Infinity, matchesMax = Infinity }: GatherLimits,
): FoundFile[] {
  const files: FoundFile[] = [];
  let left = matchesMax;
  for (const each of found.slice(0, Math.min(filesMax, found.length))) {
    if (left <= 0) break;
    const [lines, taken] = cut(each.file.lines, left);
    left -= Math.max(1, taken);
    files.push(lines === each.file.lines ? each : { ...each, file: { ...each.file, lines } });
  }
  return files;
}

/** So many matches of these lines, and how many that are: those of the best ones. */
function cut(lines: readonly LineMatch[], max: number): readonly [readonly LineMatch[], number] {
  const matches = lines.map(({ ranges }) => ranges.length);
  const all = matches.reduce((sum, each) => sum + each, 0);
  if (all <= max) return [lines, all];
  const shown = bestLines(
    lines.map(({ score }) => score),
    matches,
    max,
  );
  const kept = lines.flatMap((line, i) => {
    if (shown[i] === 0) return [];
    return shown[i] === matches[i] ? [line] : [{ ...line, ranges: line.ranges.slice(0, shown[i]) }];
  });
  return [kept, max];
}
