import type { Epoch } from "../identity/epoch.ts";
import type { ReplicaKey } from "../identity/keys.ts";
import type { DecisionKind } from "../control/decisions.ts";
import type { Commit } from "../store/contract.ts";
import type { Fence } from "../tenure/fence.ts";

/** Why a commit was sent; its outcome is reported back under the same name. */
export type CommitPurpose =
  | "grant"
  | "contend"
  | "withdraw"
  | "hand-over"
  | "re-stamp"
  | "release"
  | "promote"
  | "demote"
  | "clean"
  | "forgive";

/** What the host machine wants done. The driver in the runtime does it and reports back. */
export type HostAction =
  | {
      readonly kind: "commit";
      readonly purpose: CommitPurpose;
      readonly replica: ReplicaKey;
      /** The tenure it is about, when it is about one of ours. */
      readonly epoch?: Epoch;
      readonly commit: Commit;
    }
  | { readonly kind: "prepare"; readonly replica: ReplicaKey; readonly delayMs: number }
  | { readonly kind: "cancel"; readonly replica: ReplicaKey }
  | { readonly kind: "discard"; readonly replica: ReplicaKey }
  | { readonly kind: "activate"; readonly replica: ReplicaKey; readonly epoch: Epoch; readonly fence: Fence }
  | { readonly kind: "live"; readonly replica: ReplicaKey }
  | { readonly kind: "drain"; readonly replica: ReplicaKey }
  | { readonly kind: "close"; readonly replica: ReplicaKey }
  | { readonly kind: "promote"; readonly replica: ReplicaKey; readonly epoch: Epoch }
  | { readonly kind: "demote"; readonly replica: ReplicaKey }
  /** Only ever asked for by a broken rule, in the simulator. */
  | { readonly kind: "revoke"; readonly session: string }
  | {
      readonly kind: "decided";
      readonly decision: DecisionKind;
      readonly replica: ReplicaKey;
      readonly epoch: Epoch | undefined;
      readonly reason: string;
    };

/**
 * What became of a commit. `unknown` may have been applied, or may yet be. `unavailable` was not, but what was sent once is treated
 * as sent.
 */
export type CommitReport = "committed" | "conflict" | "unknown" | "unavailable";
