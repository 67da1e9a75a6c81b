/**
 * The documents of a repository at certain commits, as the engine takes them: one for each path and content, with the branches it is on. Content is read
 * only for what the last index has not got, so that a small push costs little.
 */
import { Turns, type SourceDocument } from "../engine/index.ts";
import { readBlobs } from "./blobs.ts";
import { GitError } from "./git-error.ts";
import type { Head } from "./heads.ts";
import { readTree } from "./tree.ts";

export interface DocumentLimits {
  /** Files above this are listed by path alone. */
  readonly fileBytesMax: number;
  /** What all files together may have. */
  readonly repositoryBytesMax: number;
}

interface ListedFile {
  readonly path: string;
  readonly oid: string;
  readonly bytes: number;
  readonly branches: readonly string[];
}

export interface FileList {
  readonly files: readonly ListedFile[];
  readonly submodules: number;
  /** Of those that are read at all. */
  readonly contentBytes: number;
}

/** Lists the files of all heads; the same path with the same content is one file on several branches. */
export async function listFiles(
  folder: string,
  heads: readonly Head[],
  limits: DocumentLimits,
  what: string,
  signal?: AbortSignal,
): Promise<FileList> {
  const files = new Map<string, { path: string; oid: string; bytes: number; branches: string[] }>();
  const submodules = new Set<string>();
  const turns = new Turns();
  for (const { branch, commit } of heads) {
    const tree = await readTree(folder, commit, what, signal);
    for (const path of tree.submodules) submodules.add(path);
    for (const { path, oid, bytes } of tree.entries) {
      // No machine could check such a file out.
      if (Buffer.byteLength(path) > pathBytesMax) continue;
      const key = `${oid}\0${path}`;
      const file = files.get(key);
      if (!file) files.set(key, { path, oid, bytes, branches: [branch] });
      else if (file.branches.at(-1) !== branch) file.branches.push(branch);
      if (turns.due) await turns.give();
    }
  }
  let contentBytes = 0;
  for (const { bytes } of files.values()) if (bytes <= limits.fileBytesMax) contentBytes += bytes;
  if (contentBytes > limits.repositoryBytesMax)
    throw new GitError(
      "REPOSITORY_TOO_LARGE",
      `${what}: its files have ${contentBytes} bytes, and ${limits.repositoryBytesMax} are allowed: raise repositoryBytesMax, or leave it out`,
    );
  return { files: [...files.values()], submodules: submodules.size, contentBytes };
}

/** What an index takes as a path; operating systems take no more. */
const pathBytesMax = 4_095;

/** Content that is only a note of where the real content is. */
const LFS = Buffer.from("version https://git-lfs.github.com/spec/v1\n");
const lfsPointerBytesMax = 1_024;

/** `known` says that the previous index has this path with this content. */
export async function* readDocuments(
  folder: string,
  list: FileList,
  options: {
    readonly limits: DocumentLimits;
    readonly known: (path: string, oid: string) => boolean;
    readonly what: string;
    readonly signal?: AbortSignal;
    readonly progress?: (fraction: number) => void;
  },
): AsyncGenerator<SourceDocument> {
  const { limits, known, what, signal, progress } = options;
  const wanted = new Map<string, ListedFile[]>();
  for (const file of list.files) {
    const { path, oid, branches } = file;
    if (known(path, oid)) yield { path, oid, branches };
    else if (file.bytes > limits.fileBytesMax) yield { path, oid, branches, skipped: "too-large" };
    else {
      const sharing = wanted.get(oid);
      if (sharing) sharing.push(file);
      else wanted.set(oid, [file]);
    }
  }
  let read = 0;
  for await (const { oid, content } of readBlobs(folder, [...wanted.keys()], what, signal)) {
    const pointer = content.length <= lfsPointerBytesMax && content.subarray(0, LFS.length).equals(LFS);
    for (const { path, branches } of wanted.get(oid)!)
      yield pointer ? { path, oid, branches, skipped: "left-out" } : { path, oid, branches, content };
    if (++read % 256 === 0) progress?.(read / wanted.size);
  }
}
