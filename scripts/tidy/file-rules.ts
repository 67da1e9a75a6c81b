// What every file must keep to, whatever folder it is in: its name, its length, and what it may not contain.

import { isCode, isTest, lineAt, maskProse, type Finding, type SourceFile } from "./source.ts";

/** Past this, a file is usually two nouns. */
const linesMax = 500;

const vagueNames = /^(?:utils?|helpers?|types?|common|misc)$/;

/** Spelt with dashes, so that this file does not find itself. */
const leftovers = new RegExp(String.raw`\b(?:${"TO-DO|FIX-ME|X-XX|HA-CK".replaceAll("-", "")})\b`, "g");

const skippedTest = /(?<![\w$.])(?:test|it|describe|suite)(?:\.\w+)*\.(?:only|skip|todo)\b/g;

const registryHost =
  /\b(?:registry|npm)\.(?!js\b)[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:org|com|net|io|dev|cloud|internal|local|example)\b/gi;

export function checkName({ path }: SourceFile): Finding[] {
  if (!isCode(path)) return [];
  const vague = path.split("/").find((part) => vagueNames.test(part.replace(/\..*$/, "")));
  if (vague === undefined) return [];
  return [
    { path, line: 1, message: `"${vague}" says nothing: name the file or folder after the noun it holds` },
  ];
}

export function checkLength({ path, text }: SourceFile): Finding[] {
  if (!isCode(path)) return [];
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  if (lines <= linesMax) return [];
  return [
    {
      path,
      line: linesMax + 1,
      message: `${lines} lines, more than ${linesMax}: split it by the nouns it holds`,
    },
  ];
}

export function checkLeftovers({ path, text }: SourceFile): Finding[] {
  if (!isCode(path)) return [];
  return Array.from(text.matchAll(leftovers), (match) => ({
    path,
    line: lineAt(text, match.index),
    message: `leftover ${match[0]}: do it now, or write it in docs/status.md`,
  }));
}

export function checkSkippedTests({ path, text }: SourceFile): Finding[] {
  if (!isTest(path)) return [];
  return Array.from(maskProse(text).matchAll(skippedTest), (match) => ({
    path,
    line: lineAt(text, match.index),
    message: `${match[0]}: run every test; use skipIf or runIf with its reason when a machine cannot`,
  }));
}

export function checkRegistryHosts({ path, text }: SourceFile): Finding[] {
  return Array.from(text.matchAll(registryHost), (match) => ({
    path,
    line: lineAt(text, match.index),
    message: `names the package registry ${match[0]}: leave it out (for a lock file, omit-lockfile-registry-resolved=true)`,
  }));
}
