/**
 * What of a shard counts: the last checkpoint, the runs of finished jobs, and where the records since are. Written last by whatever changes these, so that a
 * crash at any point leaves the one before.
 */
import type { Epoch } from "@keelson/kernel";

export interface Tail {
  /** The name of the journal. */
  readonly journal: string;
  /** Whose records: those of other tenures do not count. */
  readonly epoch: Epoch;
  /** The first sequence that can hold one. */
  readonly from: number;
  /** Records up to the mark of this checkpoint are in it already; undefined: all count. */
  readonly mark?: number | undefined;
}

export interface Manifest {
  readonly version: 1;
  /** 0: there is none yet. */
  readonly checkpoint: number;
  /** Pieces of what is not jobs. */
  readonly restChunks: number;
  readonly runs: readonly string[];
  /** In the order of tenures. */
  readonly tails: readonly Tail[];
}

export const MANIFEST_KEY = "manifest";

const NO_MANIFEST: Manifest = { version: 1, checkpoint: 0, restChunks: 0, runs: [], tails: [] };

export function encodeManifest(manifest: Manifest): Buffer {
  return Buffer.from(JSON.stringify(manifest));
}

export function decodeManifest(bytes: Uint8Array | undefined): Manifest {
  if (bytes === undefined) return NO_MANIFEST;
  const manifest = JSON.parse(Buffer.from(bytes).toString()) as Manifest;
  if (manifest.version !== 1)
    throw new RangeError(
      `a shard of the job queue has a manifest of the unknown version ${String(manifest.version)}`,
    );
  return manifest;
}
