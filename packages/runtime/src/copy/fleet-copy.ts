import type { StoreImage } from "@keelson/kernel";
import type { MirrorListener } from "../mirror/mirror.ts";

/** A copy of what a fleet keeps in its store, however it is kept up to date: from the store itself (Mirror) or from a node (CopyFollower). */
export interface FleetCopy {
  readonly image: StoreImage;
  /** It is being kept up to date. */
  readonly live: boolean;
  subscribe(listener: MirrorListener): () => void;
  start(): void;
  stop(): void;
}
