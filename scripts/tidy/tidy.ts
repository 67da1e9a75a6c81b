// Every rule of the repository that a program can check by reading it. Pure: files in, findings out.

import { checkBannedWords } from "./banned-words.ts";
import {
  checkLeftovers,
  checkLength,
  checkName,
  checkRegistryHosts,
  checkSkippedTests,
} from "./file-rules.ts";
import { checkImports } from "./import-rule.ts";
import type { Finding, SourceFile } from "./source.ts";

const rules = [
  checkImports,
  checkBannedWords,
  checkName,
  checkLength,
  checkLeftovers,
  checkSkippedTests,
  checkRegistryHosts,
];

export function tidy(files: readonly SourceFile[]): Finding[] {
  return files.flatMap((file) => rules.flatMap((rule) => rule(file)));
}
