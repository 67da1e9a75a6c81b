/** A replica's state as a sign, a colour and a word: no two states share any of them. */
import type { JSX } from "preact";
import type { ReplicaState } from "./feed/frames.ts";
import "../ui/bar.css";

export const SIGNS: Readonly<Record<ReplicaState, string>> = {
  held: "●",
  moving: "◐",
  unheld: "○",
  quarantined: "✕",
};

export function StateMark({ state }: { readonly state: ReplicaState }): JSX.Element {
  return (
    <span class={`state state-${state}`}>
      <i aria-hidden="true">{SIGNS[state]}</i>
      {state}
    </span>
  );
}
