import { AUCTION_DEFAULTS, type ServiceParameters } from "@keelson/kernel";
import type { Fields } from "../scenario/fields.ts";
import { ScenarioError } from "../scenario/fields.ts";
import type { AutoscalerTerms } from "./autoscaler.ts";
import type { CatalogueTerms } from "./catalogue.ts";
import type { IndexingTerms } from "./indexing.ts";

/** What a scenario says about auctions or claims: the repositories, the nodes' memory, and the times and limits that differ from the defaults. */
export interface AuctionScenario {
  readonly catalogue: Omit<CatalogueTerms, "repositories">;
  readonly indexing: IndexingTerms;
  /** Nodes have these in turn. */
  readonly budgetsMib: readonly [number, number];
  readonly autoscaler: AutoscalerTerms;
  /** As in a view's `parameters.placement`. */
  readonly placement: ServiceParameters["placement"];
}

/** The section `[repositories]`. */
export function readAuction(fields: Fields, path: string): AuctionScenario {
  const autoscale = fields.table("autoscale");
  const placement = fields.table("auction");
  const read: AuctionScenario = {
    catalogue: {
      medianMib: fields.number("medianMib", 40),
      sigma: fields.number("sigma", 1.2),
      largestMib: fields.number("largestMib", 1_024),
      overestimate: fields.number("overestimate", 0.2),
    },
    indexing: {
      buildMibPerSecond: fields.number("buildMibPerSecond", 50),
      nodeMibPerSecond: fields.number("nodeMibPerSecond", 200),
    },
    budgetsMib: fields.range("budgetsMib", [6_144, 6_144]),
    autoscaler: {
      lookMs: autoscale.number("lookMs", 0),
      startMs: autoscale.number("startMs", 5_000),
      coolMs: autoscale.number("coolMs", 30_000),
      drainBelow: autoscale.number("drainBelow", 0),
    },
    placement: Object.fromEntries(placement.numbers()),
  };
  for (const name of Object.keys(read.placement))
    if (!(name in AUCTION_DEFAULTS))
      throw new ScenarioError(
        `${path}.auction has "${name}"; it may have ${Object.keys(AUCTION_DEFAULTS).join(", ")}`,
      );
  autoscale.done();
  return read;
}
