/**
 * The service of the fault bench: each shard is a counter, kept in memory and written through to the shared resource. It does what a real service
 * must: it announces its epoch before it reads, writes one at a time, and reads again after a write whose outcome it does not know.
 */
import { StaleEpochError, ring, type Epoch, type Prepared, type Shard } from "@keelson/kernel";
import { defineService, type ServiceDefinition } from "@keelson/runtime";
import type { WireClient } from "@keelson/wire";
import { pass, type ReadClock, type Recorder } from "./recorder.ts";
import type { ResourceAnswer, ResourceRequest } from "./resource-process.ts";

export const SERVICE = "counter";

export interface CounterPorts {
  readonly clock: ReadClock;
  readonly recorder: Recorder;
  readonly resource: WireClient;
}

/** A prepare and a request take up to this long, so that faults find some under way. */
const PREPARE_MS_MAX = 60;
const REQUEST_MS_MAX = 30;
const RESOURCE_TIMEOUT_MS = 2_000;

export function counterService(shards: number, ports: CounterPorts): ServiceDefinition {
  return defineService({
    name: SERVICE,
    parameters: { shards, replicas: 1, placement: {} },
    placement: ring({ service: SERVICE }),
    prepare: async ({ shard }): Promise<Prepared> => {
      await pause(ports.clock, PREPARE_MS_MAX);
      return {
        async activate(epoch) {
          const counter = new Counter(shard, ports);
          await counter.load(epoch);
          return counter;
        },
      };
    },
  });
}

class Counter implements Shard {
  readonly #shard: string;
  readonly #ports: CounterPorts;
  /** Undefined after a write whose outcome is not known. */
  #value: number | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(shard: string, ports: CounterPorts) {
    this.#shard = shard;
    this.#ports = ports;
  }

  /** Reading happens after raising, in one call: whatever a former holder wrote is in it, and nothing of its can follow. */
  async load(epoch: Epoch): Promise<number> {
    return (this.#value = await this.#ask("raise", { shard: this.#shard, epoch }));
  }

  async handle({ mode, epoch }: Parameters<Shard["handle"]>[0]): Promise<number> {
    const { clock, recorder } = this.#ports;
    recorder.write(["admitted", ...pass(this.#shard, epoch, clock.readAtNs)]);
    await pause(clock, REQUEST_MS_MAX);
    const work = this.#turn.then(() => (mode === "read" ? this.#read(epoch) : this.#increment(epoch)));
    this.#turn = work.catch(() => undefined);
    return work;
  }

  async #read(epoch: Epoch): Promise<number> {
    return this.#value ?? this.load(epoch);
  }

  async #increment(epoch: Epoch): Promise<number> {
    const value = (await this.#read(epoch)) + 1;
    this.#value = undefined;
    return (this.#value = await this.#ask("write", { shard: this.#shard, epoch, value }));
  }

  async #ask(method: "raise" | "write", request: ResourceRequest): Promise<number> {
    const options = { timeoutMs: RESOURCE_TIMEOUT_MS };
    const answer = (await this.#ports.resource.call(method, request, options)) as ResourceAnswer;
    if ("seen" in answer) throw new StaleEpochError(request.epoch, answer.seen);
    return answer.value;
  }
}

function pause(clock: ReadClock, msMax: number): Promise<void> {
  return new Promise((resolve) => void clock.after(Math.random() * msMax, resolve));
}
