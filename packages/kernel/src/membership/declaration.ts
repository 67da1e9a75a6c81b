import type { ServiceParameters, View } from "./view.ts";

/** What a node's software says about a service, as opposed to the view, which is what the fleet agreed on. */
export interface ServiceDeclaration {
  readonly service: string;
  readonly parameters: ServiceParameters;
  readonly algorithm: string;
  /** How long joins must have been quiet before a view takes them in; 0 takes them in at once. */
  readonly stabilisationMs: number;
  /** However restless joins are, the first of them waits no longer than this. */
  readonly stabilisationMaxMs: number;
}

/** How a declaration stands to a view: `newer` may replace the view's parameters, all others must live with them. */
export type Standing =
  | { readonly kind: "same" }
  | { readonly kind: "newer" }
  /** The view wins. `problem` says how they differ and what to do. */
  | { readonly kind: "mismatch"; readonly problem: string };

/** Compares by revision first, so that in a rolling upgrade the newest declaration wins whichever node proposes first. */
export function standing(declared: ServiceDeclaration, view: View): Standing {
  const mine = declared.parameters.revision ?? 0;
  const theirs = view.parameters.revision ?? 0;
  if (mine > theirs) return { kind: "newer" };
  const same =
    declared.algorithm === view.algorithm && canonical(declared.parameters) === canonical(view.parameters);
  if (same) return { kind: "same" };
  const service = JSON.stringify(declared.service);
  const problem =
    mine < theirs
      ? `the view of ${service} has parameters revision ${theirs}, this node declares revision ${mine}: upgrade this node`
      : `this node declares other parameters for ${service} than the view has, both with revision ${mine}: the view's are used; raise the revision to change them`;
  return { kind: "mismatch", problem };
}

/** JSON with sorted keys, so that equal values give equal text. The revision itself, 0 or left out, is the same. */
function canonical(parameters: ServiceParameters): string {
  return JSON.stringify({ ...parameters, revision: parameters.revision ?? 0 }, (_, value: unknown) => {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
