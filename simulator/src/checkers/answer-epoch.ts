import { NO_EPOCH, compareEpochs, formatEpoch, type Epoch } from "@keelson/kernel";
import type { SimEvent } from "../events.ts";
import type { Checker, Scene } from "./checker.ts";

/** A client never accepts an answer from a lower epoch than it has already had one from, for the same replica. Write epochs, where there are primaries, count apart. */
export class AnswerEpochChecker implements Checker {
  readonly name = "answer-epoch";
  readonly #scene: Scene;
  readonly #highest = new Map<string, Epoch>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  on(event: SimEvent): void {
    if (event.kind !== "answered") return;
    const { client, replica, shard, mode, epoch } = event;
    const subject = mode === "write" && this.#scene.service.parameters.primary === true ? shard : replica;
    const key = `${client} ${subject}`;
    const highest = this.#highest.get(key) ?? NO_EPOCH;
    if (compareEpochs(epoch, highest) >= 0) this.#highest.set(key, epoch);
    else
      this.#scene.report(
        this.name,
        subject,
        `${client} accepted an answer under ${formatEpoch(epoch)} after one under ${formatEpoch(highest)}`,
      );
  }
}
