/**
 * The thread that builds, with the memory it works in, while there is something to build. Both go away when nothing was built for a while: what a build needs
 * besides the index itself is not part of the budget for long. Where memory is short they are small, and stay: what every thread that starts costs the process would be more.
 */
import type { Worker } from "node:worker_threads";
import type { Clock, Timer } from "@keelson/kernel";
import { createMemory, type WasmMemory } from "../kernels/wasm.ts";
import type { ArenaSet, SharedPlace } from "../memory/arena-set.ts";
import { giveBack } from "../memory/give-back.ts";
import { writerPlan, type PlacedDocument } from "../segment/writer.ts";
import type { FromBuilder, ToBuilder } from "../threads/protocol.ts";
import { startThread } from "../threads/start-thread.ts";

const IDLE_MS = 2_000;

/** A memory to fill with text. */
export interface TextMemory {
  readonly memory: WasmMemory;
  readonly bytes: Uint8Array;
  /** Where text begins. */
  readonly text: number;
  readonly textBytes: number;
}

export function createTextMemory(textBytes: number): TextMemory {
  const plan = writerPlan(textBytes);
  const memory = createMemory(plan.totalBytes);
  return { memory, bytes: new Uint8Array(memory.buffer), text: plan.text, textBytes };
}

export class Builder {
  readonly #arenas: ArenaSet;
  readonly #clock: Clock;
  readonly #textBytes: number;
  readonly #stays: boolean;
  #worker: Worker | undefined;
  #memory: TextMemory | undefined;
  /** What was let go and is not collected yet: where its pages cannot be given back, a second one beside it would be as much again, for as long as nobody notices that the first is garbage. */
  #former: WeakRef<TextMemory> | undefined;
  #idle: Timer | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #users = 0;

  /** `stays`: what builds does not go away. */
  constructor(
    arenas: ArenaSet,
    clock: Clock,
    { stays, textBytes }: { readonly stays: boolean; readonly textBytes: number },
  ) {
    this.#arenas = arenas;
    this.#clock = clock;
    this.#textBytes = textBytes;
    this.#stays = stays;
  }

  /** One build at a time has the memory; the others wait here. */
  async use<T>(run: (memory: TextMemory) => Promise<T>): Promise<T> {
    const before = this.#turn;
    let done: () => void = () => undefined;
    this.#turn = new Promise<void>((resolve) => {
      done = resolve;
    });
    this.#users += 1;
    this.#idle?.cancel();
    await before;
    try {
      return await run((this.#memory ??= this.#former?.deref() ?? createTextMemory(this.#textBytes)));
    } finally {
      done();
      this.#users -= 1;
      if (this.#users === 0 && !this.#stays) this.#idle = this.#clock.after(IDLE_MS, () => void this.stop());
    }
  }

  /** Makes a segment of the text in `memory` and puts it into an arena. */
  async write(
    memory: TextMemory,
    documents: readonly PlacedDocument[],
    contentEnd: number,
  ): Promise<SharedPlace> {
    const written = await this.#ask({
      kind: "write",
      memory: memory.memory,
      textBytes: memory.textBytes,
      documents,
      contentEnd,
    });
    if (written.kind !== "written") throw new Error(`a segment was not written: ${JSON.stringify(written)}`);
    const place = this.#arenas.allocate(written.bytes);
    const { arena, start } = place.place;
    try {
      await this.#ask({ kind: "copy", to: this.#arenas.arenas[arena]!.memory, start });
    } catch (error) {
      place.release();
      throw error;
    }
    return place;
  }

  async stop(): Promise<void> {
    this.#idle?.cancel();
    const worker = this.#worker;
    this.#worker = undefined;
    if (this.#memory) {
      this.#former = new WeakRef(this.#memory);
      if (this.#users === 0) giveBack(this.#memory.memory.buffer);
    }
    this.#memory = undefined;
    await worker?.terminate();
  }

  #ask(message: ToBuilder): Promise<FromBuilder> {
    if (this.#worker === undefined) {
      this.#worker = startThread("build-thread", {});
      this.#worker.unref();
    }
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        worker.off("message", onMessage);
        worker.off("error", onError);
        worker.off("exit", onExit);
      };
      const onMessage = (reply: FromBuilder): void => {
        end();
        if (reply.kind === "failed") reject(new Error(reply.message));
        else resolve(reply);
      };
      const onError = (error: Error): void => {
        end();
        this.#worker = undefined;
        reject(error);
      };
      const onExit = (): void => onError(new Error("the building thread ended"));
      worker.on("message", onMessage);
      worker.on("error", onError);
      worker.on("exit", onExit);
      worker.postMessage(message, []);
    });
  }
}
