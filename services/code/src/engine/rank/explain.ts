/** How a file or a line came by its score, in words for people. It says what `score.ts` counted; nobody reads it back. */
import type { FileCategory, SymbolSpan } from "../document.ts";
import { atomsScore, categoryScore, symbolScore, wordScore } from "./score.ts";
import { firstCharacter, kindWorth } from "./symbol-kind.ts";

export function explainFile(
  score: number,
  atoms: number,
  category: FileCategory,
  categoryNumber: number,
): string {
  const ofCategory = categoryScore(categoryNumber);
  const ofAtoms = atomsScore(atoms);
  const best = Math.ceil(score - ofCategory - ofAtoms);
  return parts(score, [
    ["best match", best],
    [`atoms(${atoms})`, ofAtoms],
    [`category(${category})`, ofCategory],
  ]);
}

/** Of a match in the text of a file. */
export function explainMatch(
  text: Uint8Array,
  [start, end]: readonly [number, number],
  symbol: SymbolSpan | undefined,
  { language, path }: { readonly language: string; readonly path: string },
): string {
  const word = wordScore(text, 0, text.length, start, end);
  if (symbol === undefined) return parts(word, [["word", word]]);
  const name = symbolScore(start, end, symbol.start, symbol.end);
  const kind = kindWorth(language, symbol.kind, firstCharacter(text, symbol.start), () => path);
  return parts(word + name + kind, [
    ["word", word],
    ["symbol", name],
    [`kind(${language} ${symbol.kind})`, kind],
  ]);
}

function parts(score: number, each: readonly (readonly [string, number])[]): string {
  const counted = each.filter(([, worth]) => worth !== 0).map(([what, worth]) => `${what}: ${round(worth)}`);
  return `score: ${round(score)} <- ${counted.join(", ")}`;
}

function round(worth: number): string {
  return String(Math.round(worth * 100) / 100);
}
