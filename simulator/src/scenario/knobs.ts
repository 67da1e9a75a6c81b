import { uniform } from "../chance/draw.ts";
import type { Streams } from "../chance/streams.ts";
import type { Scenario } from "./scenario.ts";

/** What a run drew for itself from its scenario's ranges. Printed first, so that a reader sees in which world it ran. */
export type Knobs = Readonly<Record<keyof Scenario["knobs"], number>>;

/** Each knob has a stream of its own: a new knob shifts no other. */
export function drawKnobs(scenario: Scenario, streams: Streams): Knobs {
  const names = Object.keys(scenario.knobs) as (keyof Knobs)[];
  const drawn = names.map(
    (name) => [name, uniform(streams.stream(`knob/${name}`), scenario.knobs[name])] as const,
  );
  return Object.fromEntries(drawn) as Knobs;
}
