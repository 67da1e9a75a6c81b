/** Every line that a query finds, on a terminal or as lines of JSON, as they come. */
import type { VerbCall } from "@keelson/runtime";
import { oneLine } from "./one-line.ts";

interface ShownLine {
  readonly path: string;
  readonly line?: number;
  readonly text?: string;
}

type LinesItem =
  | { readonly kind: "begin"; readonly Problem: string }
  | {
      readonly kind: "lines";
      readonly Repository: string;
      readonly Version: string;
      readonly Lines: readonly ShownLine[];
    }
  | {
      readonly kind: "repository";
      readonly Repository: string;
      readonly Partial: string;
      readonly Stale: string;
    }
  | { readonly kind: "missing"; readonly Repository: string; readonly Code: string; readonly Why: string }
  | {
      readonly kind: "end";
      readonly FileCount: number;
      readonly LineCount: number;
      readonly MatchCount: number;
    };

export async function showLines(
  call: Pick<VerbCall, "follow" | "print">,
  body: { readonly query: string; readonly literal: boolean },
): Promise<void> {
  const { print } = call;
  for await (const item of call.follow("lines", { body }) as AsyncIterable<LinesItem>)
    switch (item.kind) {
      case "begin":
        if (item.Problem !== "") print.line(`partial: ${oneLine(item.Problem)}`, { problem: item.Problem });
        break;
      case "lines":
        for (const each of item.Lines) showLine(item.Repository, item.Version, each, print);
        break;
      case "repository":
        if (item.Partial !== "")
          print.line(`partial: ${item.Repository}: ${item.Partial}`, {
            limit: item.Repository,
            why: item.Partial,
          });
        if (item.Stale !== "")
          print.line(`old: ${item.Repository}: ${oneLine(item.Stale)}`, {
            stale: item.Repository,
            why: item.Stale,
          });
        break;
      case "missing":
        print.line(`partial: ${item.Repository} did not answer: ${oneLine(item.Why)}`, {
          missing: item.Repository,
          code: item.Code,
          why: item.Why,
        });
        break;
      case "end": {
        const { FileCount: files, LineCount: lines, MatchCount: matches } = item;
        print.line(`${lines} lines with ${matches} matches in ${files} files`, { files, lines, matches });
        break;
      }
    }
}

function showLine(
  repository: string,
  commit: string,
  { path, line, text }: ShownLine,
  print: VerbCall["print"],
): void {
  const place = `${repository}@${commit.slice(0, 12)}:${oneLine(path)}`;
  const words = line === undefined ? place : `${place}:${line}: ${oneLine(text ?? "")}`;
  print.line(words, { repository, commit, file: path, ...(line === undefined ? {} : { line, text }) });
}
