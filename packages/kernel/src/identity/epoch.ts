/**
 * The fencing token. An epoch is a pair: the fleet's era, which rises when the store loses writes or is replaced, and the
 * store revision of the write that made the tenure. Pairs compare era first, so an epoch never falls, for ever.
 */
export interface Epoch {
  readonly era: number;
  readonly revision: number;
}

/** Lower than every epoch that was ever granted. */
export const NO_EPOCH: Epoch = { era: 0, revision: 0 };

/** Negative when `a` is older than `b`, zero when they are the same tenure, positive when `a` is newer. */
export function compareEpochs(a: Epoch, b: Epoch): number {
  return a.era === b.era ? a.revision - b.revision : a.era - b.era;
}

/** `era.revision`, as printed by the CLI and carried in logs. */
export function formatEpoch(epoch: Epoch): string {
  return `${epoch.era}.${epoch.revision}`;
}

/** The inverse of {@link formatEpoch}; undefined for anything else. */
export function parseEpoch(text: string): Epoch | undefined {
  const match = /^(\d{1,16})\.(\d{1,16})$/.exec(text);
  return match ? { era: Number(match[1]), revision: Number(match[2]) } : undefined;
}
