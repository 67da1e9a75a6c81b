/** The fleet, for a page: it says what it needs, and is drawn again when something has changed. */
import { useEffect } from "preact/hooks";
import { link, model, need, version, type LinkState, type Need } from "./connection.ts";
import type { FleetModel } from "./model.ts";

/** What a part of a page is given. The model changes in place: without the version, nobody would notice that there is something to draw. */
export interface Live {
  readonly model: FleetModel;
  readonly version: number;
}

export interface Fleet {
  /** Undefined until everything that is needed has been told. */
  readonly model: FleetModel | undefined;
  readonly version: number;
  readonly link: LinkState;
}

export function useFleet({ replicas, node }: Need): Fleet {
  useEffect(() => need({ replicas, node }), [replicas, node]);
  const known = model.value;
  return {
    model: replicas && known?.knowsReplicas === false ? undefined : known,
    version: version.value,
    link: link.value,
  };
}
