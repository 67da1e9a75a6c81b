/**
 * A program: the resource that shards share with their former holders. One number and one epoch gate per shard; it refuses epochs lower than one it
 * has seen, and writes down everything in the order in which it decided it.
 */
import { EpochGate, StaleEpochError, type Epoch } from "@keelson/kernel";
import { SystemClock } from "@keelson/runtime";
import { WireServer } from "@keelson/wire";
import { program } from "../process/main.ts";
import { Recorder } from "./recorder.ts";

export interface ResourceProcessOptions {
  readonly history: string;
  /** False when `--break epoch-check` took that from it. */
  readonly checksEpochs: boolean;
}

export interface ResourceProcessSaid {
  readonly kind: "serving";
  readonly address: string;
}

/** What nodes ask: `raise` announces a tenure and reads, `write` writes. */
export interface ResourceRequest {
  readonly shard: string;
  readonly epoch: Epoch;
  readonly value?: number;
}

/** The value afterwards, or the epoch that was seen meanwhile. */
export type ResourceAnswer = { readonly value: number } | { readonly seen: Epoch };

interface Resource {
  readonly gate: EpochGate;
  value: number;
}

const { options, say } = program<ResourceProcessOptions, ResourceProcessSaid>();
const recorder = new Recorder(options.history);
const resources = new Map<string, Resource>();
const server = new WireServer({ clock: new SystemClock(), name: "resource" });
server.method("raise", ({ body }) => answer(body as ResourceRequest));
server.method("write", ({ body }) => answer(body as ResourceRequest));
await server.listen({ host: "127.0.0.1", port: 0 });
say({ kind: "serving", address: server.address });

function answer({ shard, epoch, value }: ResourceRequest): ResourceAnswer {
  const resource = resourceOf(shard);
  const { era, revision } = epoch;
  try {
    if (options.checksEpochs) resource.gate.check(epoch);
  } catch (error) {
    if (!(error instanceof StaleEpochError)) throw error;
    recorder.write(["refused", shard, era, revision]);
    return { seen: error.seen };
  }
  if (value === undefined) recorder.write(["raised", shard, era, revision]);
  else {
    recorder.write(["wrote", shard, era, revision, value]);
    resource.value = value;
  }
  return { value: resource.value };
}

function resourceOf(shard: string): Resource {
  let resource = resources.get(shard);
  if (!resource) resources.set(shard, (resource = { gate: new EpochGate(), value: 0 }));
  return resource;
}
