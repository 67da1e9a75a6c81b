/** A part of the contract: facts by name, each shown on a fresh store. A fact that needs an optional ability, or holds only where there is none, names it. */
import type { Ability } from "./harness.ts";
import type { Scene } from "./scene.ts";

type Show = (scene: Scene) => Promise<void>;

interface OptionalFact {
  readonly needs: readonly Ability[];
  /** Of stores that lack all of these only. */
  readonly without?: readonly Ability[];
  readonly show: Show;
}

export interface Facts {
  readonly about: string;
  readonly facts: Readonly<Record<string, Show | OptionalFact>>;
}

/** The facts that are claimed of a store that lacks these abilities. */
export function claimed({ facts }: Facts, lacks: readonly Ability[]): [fact: string, show: Show][] {
  const claims: [string, Show][] = [];
  for (const [fact, how] of Object.entries(facts)) {
    const { needs, without = [], show } = typeof how === "function" ? { needs: [], show: how } : how;
    const able = needs.every((ability) => !lacks.includes(ability));
    if (able && without.every((ability) => lacks.includes(ability))) claims.push([fact, show]);
  }
  return claims;
}
