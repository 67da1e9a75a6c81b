/** A part of the contract: facts by name, each shown on a fresh store. A fact that needs an optional ability names it. */
import type { Ability } from "./harness.ts";
import type { Scene } from "./scene.ts";

type Show = (scene: Scene) => Promise<void>;

export interface Facts {
  readonly about: string;
  readonly facts: Readonly<
    Record<string, Show | { readonly needs: readonly Ability[]; readonly show: Show }>
  >;
}
