import type { Random, ServiceParameters } from "@keelson/kernel";
import { pick, uniform } from "../chance/draw.ts";
import type { Streams } from "../chance/streams.ts";
import type { Fields } from "../scenario/fields.ts";

/** What a scenario says about the loads of shards, where placement goes by load: the section `[loads]`. */
export interface LoadScenario {
  /** The load of the shard of rank r is r to the power of minus this. */
  readonly exponent: number;
  /** As in a view's `parameters.placement`. */
  readonly placement: ServiceParameters["placement"];
}

export function readLoads(fields: Fields): LoadScenario {
  const options = fields.table("balanced");
  return {
    exponent: fields.number("exponent", 0.8),
    placement: Object.fromEntries(options.numbers()),
  };
}

/** How loads change: all a little, or one a lot. */
export type LoadChange = "drift" | "hot";

/** The load of every shard, as it is in truth; nodes measure it. Planned operations change it. */
export class ShardLoads {
  readonly #loads: number[];
  readonly #random: Random;

  constructor({ exponent }: LoadScenario, shards: number, streams: Streams) {
    const order = streams.stream("order");
    this.#random = streams.stream("changes");
    this.#loads = Array.from({ length: shards }, (_, rank) => 1_000 * (rank + 1) ** -exponent);
    for (let i = shards - 1; i > 0; i--) {
      const j = Math.floor(order() * (i + 1));
      [this.#loads[i], this.#loads[j]] = [this.#loads[j]!, this.#loads[i]!];
    }
  }

  of(shard: string): number {
    return this.#loads[Number(shard)] ?? 0;
  }

  change(kind: LoadChange): void {
    if (kind === "drift") {
      for (let i = 0; i < this.#loads.length; i++)
        this.#loads[i] = this.#loads[i]! * uniform(this.#random, driftFactors);
      return;
    }
    const shard = pick(this.#random, [...this.#loads.keys()]);
    const total = this.#loads.reduce((sum, load) => sum + load, 0);
    this.#loads[shard] = Math.min(this.#loads[shard]! * hotFactor, total * hotShareMax);
  }
}

const driftFactors = [0.8, 1.25] as const;
const hotFactor = 5;
/** So that even the smallest node can hold it beside others: nobody could be level otherwise. */
const hotShareMax = 0.03;
