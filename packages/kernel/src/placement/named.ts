import { auction, claim } from "../auction/placement.ts";
import { balancedPlacement } from "./balanced/placement.ts";
import type { Placement } from "./plan.ts";
import { ring } from "./ring.ts";

/** The placements that come with the kernel, by the names that a service may choose them with. */
const PLACEMENTS = { ring, balanced: balancedPlacement, auction, claim } as const;

export type PlacementName = keyof typeof PLACEMENTS;

export const PLACEMENT_NAMES = Object.keys(PLACEMENTS) as readonly PlacementName[];

/** The placement of that name for a service; undefined when there is none of that name. */
export function placementNamed(name: string, service: string): Placement | undefined {
  return Object.hasOwn(PLACEMENTS, name) ? PLACEMENTS[name as PlacementName]({ service }) : undefined;
}
