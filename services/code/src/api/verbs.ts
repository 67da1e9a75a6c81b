/** `keelson code …`: what people type. Each asks the gateway's API and says what came. */
import type { Verb, VerbCall, Verbs } from "@keelson/runtime";
import type { RepositoryStatus } from "../catalogue-shard.ts";
import type { IndexRecord } from "../repository.ts";
import type { Page } from "../repository-page.ts";
import { serveMcp } from "./mcp.ts";
import { showLines } from "./show-lines.ts";
import { oneLine } from "./one-line.ts";
import { settableFlags, settables, UsageError, wholeNumber, yesOrNo } from "./settable-flags.ts";

interface ShownFile {
  readonly Repository: string;
  readonly FileName: string;
  readonly Version: string;
  readonly LineMatches:
    | readonly { readonly LineNumber: number; readonly Line: string; readonly FileName: boolean }[]
    | null;
}

interface ShownResult {
  readonly Files: readonly ShownFile[];
  readonly FileCount: number;
  readonly MatchCount: number;
  readonly Missing: readonly { readonly Repository: string; readonly Code: string; readonly Why: string }[];
  readonly Limits: readonly { readonly Repository: string; readonly Why: string }[];
}

const add: Verb = {
  about: "add repositories, by address or by the absolute path of a folder",
  arguments: [{ name: "<url...>", about: "git addresses" }],
  options: [
    { flags: "--name <name>", about: "the name to search by, for a single repository" },
    { flags: "--pin", about: "never evict it" },
    ...settableFlags,
  ],
  async run({ args, options, api, print }) {
    const { name, pin } = options as { name?: string; pin?: boolean };
    const said = settables(options);
    if (name !== undefined && args.length > 1)
      throw new UsageError("--name is for a single repository: add them one after another");
    const repositories = args.map((url) => ({
      url,
      ...(name === undefined ? {} : { name }),
      ...(pin ? { pinned: true } : {}),
      ...said,
    }));
    const added = (await api("add", { body: { repositories } })) as {
      repositories: Record<string, unknown>[];
    };
    print.table(added.repositories, ["id", "name", "url"]);
  },
};

const changeFlags = [{ flags: "--pinned <yes|no>", about: "never evict it" }, ...settableFlags];

const set: Verb = {
  about: "change what is said of repositories, by name",
  arguments: [{ name: "<name...>", about: "names" }],
  options: changeFlags,
  async run({ args, options, api, print }) {
    const said = { ...settables(options), ...yesOrNo(options, "pinned") };
    if (Object.keys(said).length === 0)
      throw new UsageError(`say what to change: ${changeFlags.map(({ flags }) => flags).join(", ")}`);
    print.record((await api("set", { body: { names: args, ...said } })) as Record<string, unknown>);
  },
};

const remove: Verb = {
  about: "take repositories off, by name",
  arguments: [{ name: "<name...>", about: "names" }],
  run: async ({ args, api, print }) =>
    print.record((await api("remove", { body: { names: args } })) as Record<string, unknown>),
};

const status: Verb = {
  about: "repositories: who holds them, at which commit, and what is wrong",
  arguments: [{ name: "[name]", about: "only those whose name contains this; all when left out" }],
  run: async ({ args: [name], api, print }) => {
    const rows = await statusRows(api, name);
    print.table(rows.map(statusLine), ["name", "state", "nodes", "commit", "memory", "indexed"], "problem");
  },
};

const list: Verb = {
  about: "the repositories that a query matches",
  arguments: [{ name: "[query]", about: "such as repo:tools -archived:yes" }],
  async run({ args: [query = ""], api, print }) {
    const { List } = (await api("list", { body: { Q: query } })) as {
      List: {
        Repos: {
          Repository: { Name: string; URL: string; Branches: { Name: string }[] | null };
          Stats: { Documents: number };
        }[];
      };
    };
    const rows = List.Repos.map(({ Repository: { Name, URL, Branches }, Stats }) => ({
      name: Name,
      url: URL,
      branches: (Branches ?? []).map((each) => each.Name).join(" "),
      files: Stats.Documents,
    }));
    print.table(rows, ["name", "branches", "files", "url"]);
  },
};

const search: Verb = {
  about: "search, with zoekt's query language",
  arguments: [{ name: "<query...>", about: "such as 'func main file:\\.go$ repo:tools'" }],
  options: [
    { flags: "--literal", about: "patterns are text, not regular expressions" },
    { flags: "--limit <n>", about: "files to show", value: "50" },
    { flags: "--all", about: "every line, as it is found and in no order of rank" },
  ],
  async run(call) {
    const { args, options, api, print } = call;
    const { literal = false, limit, all } = options as { literal?: boolean; limit?: string; all?: boolean };
    if (all) return showLines(call, { query: args.join(" "), literal });
    const { Result } = (await api("search", {
      body: {
        Q: args.join(" "),
        Opts: {
          MaxDocDisplayCount: wholeNumber("limit", limit ?? "50", 1),
          ...(literal ? { Literal: true } : {}),
        },
      },
    })) as { Result: ShownResult };
    for (const file of Result.Files) showFile(file, print);
    const { FileCount, MatchCount, Missing, Limits } = Result;
    print.line(`${MatchCount} matches in ${FileCount} files`, { files: FileCount, matches: MatchCount });
    for (const { Repository, Code, Why } of Missing)
      print.line(`partial: ${Repository} did not answer: ${oneLine(Why)}`, {
        missing: Repository,
        code: Code,
        why: Why,
      });
    for (const { Repository, Why } of Limits)
      print.line(`partial: ${Repository}: ${oneLine(Why)}`, { limit: Repository, why: Why });
  },
};

const mcp: Verb = {
  about: "serve the Model Context Protocol on standard input and output, for coding agents",
  run: ({ api, signal }) => serveMcp({ api, signal, input: process.stdin, output: process.stdout }),
};

export const codeVerbs: Verbs = { add, set, list, search, remove, status, mcp };

function showFile({ Repository, FileName, Version, LineMatches }: ShownFile, print: VerbCall["print"]): void {
  const place = `${Repository}@${Version.slice(0, 12)}:${oneLine(FileName)}`;
  // The best come first in an answer; people read from the top.
  const inOrder = (LineMatches ?? []).toSorted((a, b) => a.LineNumber - b.LineNumber);
  for (const { LineNumber, Line, FileName: named } of inOrder) {
    const text = Buffer.from(Line, "base64")
      .toString("utf8")
      .replace(/\r?\n$/, "");
    const value = { repository: Repository, commit: Version, file: FileName, line: LineNumber, text };
    // A match may go on over several lines.
    const words = named
      ? [place]
      : text.split("\n").map((line, i) => `${place}:${LineNumber + i}: ${oneLine(line.replace(/\r$/, ""))}`);
    print.line(words.join("\n"), value);
  }
}

async function statusRows(
  api: VerbCall["api"],
  name: string | undefined,
): Promise<readonly RepositoryStatus[]> {
  const rows: RepositoryStatus[] = [];
  let after: number | undefined = 0;
  while (after !== undefined) {
    const query = name === undefined ? { after } : { after, name };
    const page = (await api("status", { query })) as Page<RepositoryStatus>;
    rows.push(...page.repositories);
    after = page.next;
  }
  return rows;
}

function statusLine(row: RepositoryStatus): Record<string, unknown> {
  const index = row.replicas.find((each) => each.index)?.index;
  const nodes = row.replicas.map(({ node }) => node ?? "–").join(" ");
  const problem =
    index?.problem?.message ?? index?.note ?? row.unheld ?? (row.state === "resting" ? row.reason : "");
  return {
    name: row.name,
    state: row.state === "resting" ? "resting" : stateOf(index),
    nodes,
    commit: index?.heads[0]?.commit.slice(0, 12) ?? "",
    memory: index?.memoryBytes ?? 0,
    indexed: index && index.indexedAt > 0 ? new Date(index.indexedAt).toISOString() : "",
    // Git says of which repository it speaks; here that stands beside it.
    problem: problem.startsWith(`${row.name}: `) ? problem.slice(row.name.length + 2) : problem,
  };
}

function stateOf(index: IndexRecord | undefined): string {
  if (!index) return "loading";
  if (index.indexedAt === 0) return "failing";
  return index.heads.length === 0 ? "empty" : "ready";
}
