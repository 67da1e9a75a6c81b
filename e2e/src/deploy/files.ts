/** What lies in deploy/, read for tests: YAML as it is meant, and the command lines that it starts our processes with. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { keelson } from "keelson";
import { parse, parseAllDocuments } from "yaml";

export const DEPLOY = fileURLToPath(new URL("../../../deploy/", import.meta.url));

export function textOf(path: string): string {
  return readFileSync(join(DEPLOY, path), "utf8");
}

export function yamlOf(path: string): unknown {
  return parse(textOf(path), { merge: true, strict: true });
}

export function documentsOf(path: string): unknown[] {
  return parseAllDocuments(textOf(path), { strict: true }).map((document) => {
    if (document.errors.length > 0) throw document.errors[0]!;
    return document.toJS() as unknown;
  });
}

export function filesIn(folder: string): string[] {
  return readdirSync(join(DEPLOY, folder)).sort();
}

/** What is wrong with a command line of ours: a command or flag that there is not. */
export async function commandProblems(args: readonly string[]): Promise<string[]> {
  const program = await keelson(args[0]);
  const command = program.commands.find((each) => each.name() === args[0]);
  if (!command) return [`there is no command ${args[0]}`];
  return args
    .filter((word) => word.startsWith("--"))
    .map((word) => word.split("=")[0])
    .filter((flag) => !command.options.some(({ long }) => long === flag))
    .map((flag) => `${args[0]} has no ${flag}`);
}
