/**
 * A process with one index of the corpus. `build`: reads all files first, builds from memory, says what that cost. `serve`: builds file by file, then answers over HTTP:
 * `/search?q=` with every matching line as JSON, `/usage` with what the process has used.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { openEngine, type CodeIndex, type SourceDocument } from "@keelson/code/engine";
import { SystemClock } from "@keelson/runtime";
import { listFiles, readWhole } from "./corpus.ts";

const [mode = "", corpus = "", memory = ""] = process.argv.slice(2);
const engine = openEngine({ memoryBytes: Number(memory), workers: 2 }, { clock: new SystemClock() });
const terms = { branches: ["main"], documentBytesMax: 200_000_000 };
const files = await listFiles(corpus);

function document(path: string, content: Buffer): SourceDocument {
  // The real object id costs as much as the index; git has it already, so a cheap stand-in keeps it out of the figures.
  const oid = createHash("md5").update(path).digest("hex");
  return { path, oid, branches: ["main"], content };
}

if (mode === "build") {
  const documents: SourceDocument[] = [];
  let bytes = 0;
  for (const path of files) {
    const content = await readWhole(join(corpus, path));
    bytes += content.length;
    documents.push(document(path, content));
  }
  const cpu = process.cpuUsage();
  const index = await engine.build(documents, terms);
  const { user, system } = process.cpuUsage(cpu);
  process.send?.({ bytes, cpuMs: (user + system) / 1_000, memoryBytes: index.stats.memoryBytes });
  await engine.close();
  process.disconnect();
} else {
  let bytes = 0;
  const read = async function* (): AsyncGenerator<SourceDocument> {
    for (const path of files) {
      const content = await readWhole(join(corpus, path));
      bytes += content.length;
      yield document(path, content);
    }
  };
  const index = await engine.build(read(), terms);
  const skipped = [...index.documents()]
    .filter((each) => each.skipped !== undefined)
    .map((each) => each.path);
  const stalls = monitorEventLoopDelay({ resolution: 1 });
  stalls.enable();
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
      stallMs: stalls.max / 1e6,
    };
    if (url.searchParams.has("reset")) stalls.reset();
    response.end(JSON.stringify(usage));
  });
  server.listen(0, "127.0.0.1", () => {
    process.send?.({
      bytes,
      port: (server.address() as AddressInfo).port,
      skipped,
      memoryBytes: index.stats.memoryBytes,
    });
  });
  process.on("disconnect", () => process.exit());
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
    for await (const piece of index.searchLines(query, { timeCapMs })) {
      if (!response.write(piece)) await new Promise((resolve) => response.once("drain", resolve));
    }
    response.end();
  } catch (error) {
    response.statusCode = 400;
    response.end(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
  }
}
