import type { Entry } from "@keelson/kernel";

/** Texts that are remembered in each of two generations; a longer one than `textMax` characters is read every time. */
const generationMax = 1_024;
const textMax = 8_192;

let young = new Map<string, unknown>();
let old = new Map<string, unknown>();

/**
 * What an entry's text says. Nodes and clients of one process are told of the same entries at about the same time: they get the same value, read
 * once. Whoever wants to change it makes a copy.
 */
export function entryValue({ value: text }: Entry): unknown {
  const known = young.get(text);
  if (known !== undefined) return known;
  const value = old.get(text) ?? (JSON.parse(text) as unknown);
  if (text.length > textMax) return value;
  if (young.size >= generationMax) {
    old = young;
    young = new Map();
  }
  young.set(text, value);
  return value;
}
