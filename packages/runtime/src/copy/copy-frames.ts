/**
 * What travels from a node to whoever follows its copy of the store: lists told by position, as in wire. A listing comes in pages, then changes
 * batch by batch; `live` says whether the node itself follows the store. What arrives is checked: it comes from whoever answered.
 *
 * ["page", incarnation, revision, [entry…], more]   ["changes", incarnation, revision, [change…]]   ["live", boolean]
 * entry: [key, value, revision, session?]           change: entry, or [key, null, revision, expired]
 */
import type { Change, Entry, ImageChange, Revision } from "@keelson/kernel";

export const COPY_STREAM = "copy";

export type CopyFrame =
  | {
      readonly kind: "page";
      readonly incarnation: string;
      readonly revision: Revision;
      readonly entries: readonly Entry[];
      readonly more: boolean;
    }
  | {
      readonly kind: "changes";
      readonly incarnation: string;
      readonly revision: Revision;
      readonly changes: readonly Change[];
    }
  | { readonly kind: "live"; readonly live: boolean };

export function encodeCopyFrame(frame: CopyFrame): unknown[] {
  switch (frame.kind) {
    case "page":
      return [frame.kind, frame.incarnation, frame.revision, frame.entries.map(encodeEntry), frame.more];
    case "changes":
      return [frame.kind, frame.incarnation, frame.revision, frame.changes.map(encodeChange)];
    case "live":
      return [frame.kind, frame.live];
  }
}

/** Undefined for a frame that a later version may have added. Throws on one that is not what it says. */
export function decodeCopyFrame(value: unknown): CopyFrame | undefined {
  const [kind, first, second, third, fourth] = list(value);
  switch (kind) {
    case "page":
      return {
        kind,
        incarnation: text(first),
        revision: count(second),
        entries: list(third).map(decodeEntry),
        more: fourth === true,
      };
    case "changes":
      return {
        kind,
        incarnation: text(first),
        revision: count(second),
        changes: list(third).map(decodeChange),
      };
    case "live":
      return { kind, live: first === true };
    default:
      return undefined;
  }
}

/** As a watch would have told it. */
export function asChange({ key, entry, revision, expired }: ImageChange): Change {
  return entry ? { kind: "put", entry } : { kind: "delete", key, revision, expired };
}

function encodeEntry({ key, value, revision, session }: Entry): unknown[] {
  return session === undefined ? [key, value, revision] : [key, value, revision, session];
}

function encodeChange(change: Change): unknown[] {
  return change.kind === "put"
    ? encodeEntry(change.entry)
    : [change.key, null, change.revision, change.expired === true];
}

function decodeEntry(value: unknown): Entry {
  const [key, body, revision, session] = list(value);
  const entry = { key: text(key), value: text(body), revision: count(revision) };
  return typeof session === "string" ? { ...entry, session } : entry;
}

function decodeChange(value: unknown): Change {
  const [key, body, revision, expired] = list(value);
  return body === null
    ? { kind: "delete", key: text(key), revision: count(revision), expired: expired === true }
    : { kind: "put", entry: decodeEntry(value) };
}

function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new TypeError("a node's copy came with something that is no list");
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw new TypeError("a node's copy came with something that is no text");
}

function count(value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new TypeError("a node's copy came with something that is no revision");
}
