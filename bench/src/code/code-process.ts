/**
 * A process with one index of the corpus. `build`: reads all files first, builds from memory, says what that cost. `push`: builds about 100 MB of it, changes one
 * file after another, and says how long each took to be found. `serve`: builds file by file, then answers over HTTP: `/search?q=` with every matching line as JSON,
 * `/usage` with what the process has used.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createHash } from "node:crypto";
import { openEngine, type CodeIndex, type SourceDocument } from "@keelson/code/engine";
import { SystemClock } from "@keelson/runtime";
import type { Built, Pushed } from "./code-server.ts";
import { listFiles, readWhole } from "./corpus.ts";
import { Stalls } from "./stalls.ts";

/** Builds after the first, into memory that was used before, as on a node that has been running for a while. */
const WARM_BUILDS = 3;
const PUSHED_BYTES = 100_000_000;
const PUSHES = 5;

const [mode = "", corpus = "", memory = ""] = process.argv.slice(2);
const engine = openEngine({ memoryBytes: Number(memory), workers: 2 }, { clock: new SystemClock() });
const terms = { branches: ["main"], documentBytesMax: 200_000_000 };
const files = await listFiles(corpus);

function document(path: string, content: Buffer): SourceDocument {
  return { path, oid: oid(path), branches: ["main"], content };
}

/** The real object id costs as much as the index; git has it already, so a cheap stand-in keeps it out of the figures. */
function oid(text: string): string {
  return createHash("md5").update(text).digest("hex");
}

async function readDocuments(bytesMax: number): Promise<{ documents: SourceDocument[]; bytes: number }> {
  const documents: SourceDocument[] = [];
  let bytes = 0;
  for (const { path, file } of files) {
    const content = await readWhole(file);
    bytes += content.length;
    documents.push(document(path, content));
    if (bytes >= bytesMax) break;
  }
  return { documents, bytes };
}

async function build(): Promise<Built> {
  const { documents } = await readDocuments(Infinity);
  const cpuMs: number[] = [];
  let bytes = 0;
  let memoryBytes = 0;
  for (let run = 0; run <= WARM_BUILDS; run += 1) {
    const before = process.cpuUsage();
    const index = await engine.build(documents, terms);
    const { user, system } = process.cpuUsage(before);
    cpuMs.push((user + system) / 1_000);
    // What is no text is not indexed, and counts for nothing.
    ({ contentBytes: bytes, memoryBytes } = index.stats);
    index.release();
  }
  return { bytes, memoryBytes, coldCpuMs: cpuMs[0]!, cpuMs: Math.min(...cpuMs.slice(1)) };
}

async function push(): Promise<Pushed> {
  const { documents, bytes } = await readDocuments(PUSHED_BYTES);
  const index = await engine.build(documents, terms);
  let searchableMs = 0;
  for (let run = 0; run < PUSHES; run += 1) {
    const word = `pushed${run}just${run}now`;
    const changed = documents[Math.floor((run * documents.length) / PUSHES)]!;
    const startedAt = performance.now();
    const next = await engine.build(
      documents.map((each) =>
        each === changed
          ? { ...each, oid: oid(word), content: Buffer.concat([each.content!, Buffer.from(`\n${word}\n`)]) }
          : { path: each.path, oid: each.oid, branches: each.branches },
      ),
      { ...terms, previous: index },
    );
    const { counts } = await next.search({
      kind: "substring",
      text: word,
      caseSensitive: true,
      scope: "content",
    });
    searchableMs = Math.max(searchableMs, performance.now() - startedAt);
    if (counts.matches !== 1) throw new Error(`what was pushed was found ${counts.matches} times`);
    // The next push starts from what was built first, as each of them would.
    next.release();
  }
  index.release();
  return { bytes, searchableMs };
}

async function serve(): Promise<void> {
  const read = async function* (): AsyncGenerator<SourceDocument> {
    for (const { path, file } of files) yield document(path, await readWhole(file));
  };
  const index = await engine.build(read(), terms);
  // The list is of the bench; who serves has the index alone.
  files.length = 0;
  const skipped = [...index.documents()]
    .filter((each) => each.skipped !== undefined)
    .map((each) => each.path);
  const stalls = new Stalls();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    if (url.pathname === "/search") {
      void answer(index, url.searchParams, response);
      return;
    }
    const { user, system } = process.cpuUsage();
    const usage = {
      cpuMs: (user + system) / 1_000,
      rssBytes: process.memoryUsage.rss(),
      ...stalls.worst,
    };
    if (url.searchParams.has("reset")) stalls.reset();
    response.end(JSON.stringify(usage));
  });
  server.listen(0, "127.0.0.1", () => {
    process.send?.({ port: (server.address() as AddressInfo).port, skipped });
  });
}

async function answer(
  index: CodeIndex,
  parameters: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const pattern = parameters.get("q") ?? "";
  const timeCapMs = Number(parameters.get("timeCapMs") ?? 60_000);
  try {
    response.setHeader("content-type", "application/x-ndjson");
    const query = {
      kind: "regex",
      pattern,
      caseSensitive: true,
      scope: "content",
      withinLines: true,
    } as const;
    for await (const piece of index.searchLines(query, { timeCapMs, firstOfLine: true })) {
      if (!response.write(piece)) await new Promise((resolve) => response.once("drain", resolve));
    }
    response.end();
  } catch (error) {
    response.statusCode = 400;
    response.end(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
  }
}

process.on("disconnect", () => process.exit());
if (mode === "serve") await serve();
else {
  process.send?.(mode === "build" ? await build() : await push());
  await engine.close();
  process.disconnect();
}
