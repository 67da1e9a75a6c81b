import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { keelson } from "../program.ts";
import { SHELLS, completionScript } from "./scripts.ts";
import { completionWords } from "./words.ts";

const words = completionWords(await keelson());

test.each(SHELLS)("the script for %s names every command and flag", (shell) => {
  const script = completionScript(shell, words);
  for (const { name, flags } of words) {
    expect(script).toContain(name);
    for (const { long } of flags) expect(script).toContain(shell === "fish" ? `-l ${long.slice(2)}` : long);
  }
});

/** What bash offers for a line, by running its own machinery. */
function offered(...line: string[]): string[] {
  const script = `${completionScript("bash", words)}
COMP_WORDS=(${line.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${line.length - 1}; _keelson; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", script], { encoding: "utf8" })
    .split("\n")
    .filter((word) => word !== "");
}

test("bash completes commands, flags, and the words that a flag takes", () => {
  expect(offered("keelson", "sta")).toEqual(["status"]);
  expect(offered("keelson", "shards", "--st")).toEqual(["--state", "--store"]);
  expect(offered("keelson", "shards", "--state", "")).toEqual(["held", "moving", "unheld", "quarantined"]);
  expect(offered("keelson", "completion", "z")).toEqual(["zsh"]);
});

test.each(["zsh", "fish"] as const)("%s finds no fault with its script, where it is installed", (shell) => {
  const file = `/usr/bin/${shell}`;
  const script = completionScript(shell, words);
  // Not everybody has every shell; quotes that do not match would still show here.
  expect(script.replaceAll("\\'", "").split("'").length % 2).toBe(1);
  if (existsSync(file)) execFileSync(file, ["-n", "-c", script]);
});
