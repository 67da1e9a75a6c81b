import { compareEpochs, formatEpoch, type Epoch } from "@keelson/kernel";
import type { SimEvent } from "../events.ts";
import type { Checker, Scene } from "./checker.ts";

/** When a client first had an answer from an epoch. */
interface Seen {
  readonly atMs: number;
  readonly epoch: Epoch;
}

/**
 * A client never accepts an answer from a lower epoch than it had already had one from when it sent the request, for the same replica. Two requests under way at once may
 * be answered by two tenures in either order. Write epochs, where there are primaries, count apart.
 */
export class AnswerEpochChecker implements Checker {
  readonly name = "answer-epoch";
  readonly hears = ["answered"] as const;
  readonly #scene: Scene;
  /** By client, then by replica: rising epochs, oldest first, as many as can matter. */
  readonly #seen = new Map<string, Map<string, Seen[]>>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  on(event: SimEvent): void {
    if (event.kind !== "answered") return;
    const { client, replica, shard, mode, epoch, sentAtMs } = event;
    const subject = mode === "write" && this.#scene.service.parameters.primary === true ? shard : replica;
    let ofClient = this.#seen.get(client);
    if (!ofClient) this.#seen.set(client, (ofClient = new Map<string, Seen[]>()));
    let seen = ofClient.get(subject);
    if (!seen) ofClient.set(subject, (seen = []));
    let at = seen.length - 1;
    while (at >= 0 && (seen[at] as Seen).atMs > sentAtMs) at--;
    const floor = seen[at];
    if (floor && compareEpochs(epoch, floor.epoch) < 0)
      this.#scene.report(
        this.name,
        subject,
        `${client} accepted an answer under ${formatEpoch(epoch)}, and had had one under ${formatEpoch(floor.epoch)} before it asked`,
      );
    const last = seen.at(-1);
    if (last && compareEpochs(epoch, last.epoch) <= 0) return;
    seen.push({ atMs: this.#scene.now(), epoch });
    if (seen.length > rememberedMax) seen.shift();
  }
}

/** More changes of epoch than happen while one request is under way. */
const rememberedMax = 16;
