import { Keys, type Clock, type Random, type Store, type Terms } from "@keelson/kernel";
import { Mirror } from "./mirror.ts";

/** The copy of everything a fleet keeps in its store. Nodes and clients of one process may share one; otherwise each keeps its own. */
export function fleetMirror(
  fleet: string,
  { store, clock, random }: { readonly store: Store; readonly clock: Clock; readonly random: Random },
  { commitTimeoutMs, relistMs, renewMs }: Terms,
): Mirror {
  const keys = new Keys(fleet);
  return new Mirror({
    store,
    clock,
    random,
    prefix: keys.prefix,
    canary: keys.era,
    groupOf: (key) => keys.contendedFor(key),
    timeoutMs: commitTimeoutMs,
    relistMs,
    retryMsMax: renewMs,
  });
}
