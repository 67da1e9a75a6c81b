/** The fleet's objects as a process uses them: each service below its own name, and the fleet's era numbers beside them. */
import type { Clock, EraSource, Random } from "@keelson/kernel";
import { ObjectEras, ScopedObjects, openObjects, type Objects } from "@keelson/objects";

export interface FleetObjects {
  service(name: string): Objects;
  readonly eras: EraSource;
  close(): Promise<void>;
}

export async function openFleetObjects(options: {
  readonly url: string;
  readonly fleet: string;
  /** Whose hand takes an era, for people. */
  readonly by: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly progress: (line: string) => void;
}): Promise<FleetObjects> {
  const { url, fleet, by, clock, random, progress } = options;
  const place = await openObjects(url, { clock, random, environment: process.env, progress });
  return {
    service: (name) => new ScopedObjects(place, `${fleet}/${name}/`),
    eras: new ObjectEras({ objects: new ScopedObjects(place, `${fleet}/fleet/`), by }),
    close: () => place.close(),
  };
}
