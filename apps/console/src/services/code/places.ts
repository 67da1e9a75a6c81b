/** Addresses of this service's pages. */
import type { Question } from "./code-api.ts";
import { hashOf, type Lines } from "./line-hash.ts";

export function searchHref(question: Question): string {
  const search = searchOf(question);
  return `/console/code/search${search}`;
}

/** `question` is what led there: its matches are marked in the file. */
export function fileHref(repository: string, path: string, question?: Question, lines?: Lines): string {
  const parts = path.split("/").map(encodeURIComponent).join("/");
  const search = question === undefined ? "" : searchOf(question);
  const hash = lines === undefined ? "" : hashOf(lines);
  return `/console/code/files/${encodeURIComponent(repository)}/${parts}${search}${hash}`;
}

export function questionOf(query: Readonly<Record<string, string>>): Question {
  return { text: query["q"] ?? "", literal: query["literal"] === "1", matchCase: query["case"] === "yes" };
}

function searchOf({ text, literal, matchCase }: Question): string {
  const search = new URLSearchParams();
  if (text !== "") search.set("q", text);
  if (literal) search.set("literal", "1");
  if (matchCase) search.set("case", "yes");
  const written = search.toString();
  return written === "" ? "" : `?${written}`;
}
