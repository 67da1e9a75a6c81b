/** Shows a file as it is in the index, with its commit, where its lines begin, and its symbols. */
import { HttpAnswer, route, type FleetAccess } from "@keelson/runtime";
import { z } from "zod";
import { CodeError } from "../code-error.ts";
import type { PrintAnswer } from "../shard.ts";
import { directoryOf } from "./directory.ts";
import { askCatalogue } from "./ask-catalogue.ts";

const timeoutMs = 10_000;

const PrintQuery = z.object({
  r: z.string().describe("the repository's name"),
  f: z.string().describe("the file's path"),
  b: z.string().optional().describe("a branch; the default branch when left out"),
  format: z.enum(["raw", "json"]).default("json"),
});

export const print = route({
  verb: "GET",
  path: "/print",
  alsoAt: ["/print"],
  summary: "Show a file as it is in the index, with its commit, its lines and its symbols",
  description:
    "LineOffsets has the byte at which each line begins; Symbols have bytes and lines of their names, in the order of the text. format=raw is the file alone.",
  query: PrintQuery,
  answer: z.looseObject({ Repository: z.string() }),
  scope: "read",
  mode: "read",
  to: {
    kind: "custom",
    async handle({ query: { r, f, b, format } }, call) {
      const answer = await printFile(call.access, r, f, b);
      const { repository, path, language, branches, content } = answer;
      const { heads } = repository;
      const head = b === undefined || b === "HEAD" ? heads[0] : heads.find(({ branch }) => branch === b);
      const version = head?.commit ?? "";
      const bytes = Buffer.from(content);
      if (format === "raw")
        return new HttpAnswer(bytes, {
          headers: {
            "content-type": "text/plain; charset=utf-8",
            "x-content-type-options": "nosniff",
            "keelson-commit": version,
          },
        });
      return {
        Repository: repository.name,
        Version: version,
        FileName: path,
        Language: language,
        Branches: branches,
        Content: bytes.toString("base64"),
        Skipped: answer.skipped ?? "",
        LineOffsets: lineOffsets(bytes),
        Symbols: symbolLines(bytes, answer.symbols),
      };
    },
  },
});

async function printFile(
  access: FleetAccess,
  repository: string,
  path: string,
  branch: string | undefined,
): Promise<PrintAnswer> {
  const { repositories } = await directoryOf(access).list();
  const row = repositories?.find(({ name }) => name === repository);
  if (!row) throw new CodeError("REPOSITORY_UNKNOWN", `there is no repository ${repository}`);
  if (row.state === "resting") {
    await askCatalogue(access, "wanted", { ids: [row.id] });
    throw new CodeError(
      "REPOSITORY_UNAVAILABLE",
      `${repository} was in nobody's memory (${row.reason}) and is being loaded: try again`,
    );
  }
  const answer = await access.call({
    service: "code",
    shard: String(row.id),
    method: "print",
    mode: "read",
    body: { path, ...(branch === undefined ? {} : { branch }) },
    timeoutMs,
    patienceMs: 2_000,
  });
  return answer.body as PrintAnswer;
}

/** Where each line begins; what follows the last line break is a line when there is something. */
function lineOffsets(bytes: Buffer): number[] {
  const offsets = bytes.length === 0 ? [] : [0];
  for (let at = bytes.indexOf(10); at !== -1 && at + 1 < bytes.length; at = bytes.indexOf(10, at + 1))
    offsets.push(at + 1);
  return offsets;
}

function symbolLines(bytes: Buffer, symbols: PrintAnswer["symbols"]): Record<string, unknown>[] {
  let line = 1;
  let at = bytes.indexOf(10);
  return symbols.map(({ name, kind, parent = "", parentKind = "", start, end }) => {
    for (; at !== -1 && at < start; at = bytes.indexOf(10, at + 1)) line++;
    return {
      Sym: name,
      Kind: kind,
      Parent: parent,
      ParentKind: parentKind,
      Start: start,
      End: end,
      Line: line,
    };
  });
}
