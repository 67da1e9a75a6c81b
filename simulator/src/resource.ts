import { EpochGate, type Epoch } from "@keelson/kernel";
import type { Emit } from "./events.ts";
import type { Network } from "./network.ts";
import type { SimProcess } from "./process.ts";

/** The name of the place where resources live, as an endpoint of the network. */
export const OBJECTS = "objects";

/** How many accepted writes a resource can be asked about. A client hears of its write long before that many more. */
const rememberedMax = 512;

/**
 * Something outside the fleet that a shard writes to, like an object in an object store: one number, and the highest epoch it has seen. It refuses lower epochs, unless
 * `--break epoch-check` took that from it.
 */
export class FencedResource {
  readonly name: string;
  readonly #gate = new EpochGate();
  readonly #checksEpochs: boolean;
  readonly #emit: Emit;
  /** The last writes, each at the place of its value in a ring. */
  readonly #accepted: { value: number; epoch: Epoch }[] = [];
  #value = 0;

  constructor(name: string, emit: Emit, rules: { checksEpochs: boolean }) {
    this.name = name;
    this.#emit = emit;
    this.#checksEpochs = rules.checksEpochs;
  }

  raise(epoch: Epoch): void {
    if (this.#checksEpochs) this.#gate.raise(epoch);
    this.#emit({ kind: "raised", resource: this.name, epoch });
  }

  read(): number {
    return this.#value;
  }

  write(epoch: Epoch, value: number): void {
    if (this.#checksEpochs) this.#gate.check(epoch);
    const previous = this.#value;
    this.#value = value;
    const place = value % rememberedMax;
    const accepted = this.#accepted[place];
    if (accepted) {
      accepted.value = value;
      accepted.epoch = epoch;
    } else this.#accepted[place] = { value, epoch };
    this.#emit({ kind: "wrote", resource: this.name, epoch, value, previous });
  }

  /** The epoch under which that value was accepted, if it was, and not long ago. */
  acceptedUnder(value: number): Epoch | undefined {
    const accepted = this.#accepted[value % rememberedMax];
    return accepted?.value === value ? accepted.epoch : undefined;
  }
}

/** All resources of a run, made when first named. */
export class Resources {
  readonly #resources = new Map<string, FencedResource>();
  readonly #emit: Emit;
  readonly #rules: { checksEpochs: boolean };

  constructor(emit: Emit, rules: { checksEpochs: boolean }) {
    this.#emit = emit;
    this.#rules = rules;
  }

  get(name: string): FencedResource {
    let resource = this.#resources.get(name);
    if (resource === undefined) {
      resource = new FencedResource(name, this.#emit, this.#rules);
      this.#resources.set(name, resource);
    }
    return resource;
  }
}

/**
 * A resource as a process reaches it: over the network, on a connection that loses nothing and repeats nothing, but that may be slow. What has been sent
 * arrives even when its sender has since been paused, fenced or killed: that is what epochs are for.
 */
export class RemoteResource {
  readonly #process: SimProcess;
  readonly #life: number;
  readonly #network: Network;
  readonly #resource: FencedResource;

  constructor(process: SimProcess, network: Network, resource: FencedResource) {
    this.#process = process;
    this.#life = process.life;
    this.#network = network;
    this.#resource = resource;
  }

  raise(epoch: Epoch): Promise<void> {
    return this.#call((resource) => resource.raise(epoch));
  }

  read(): Promise<number> {
    return this.#call((resource) => resource.read());
  }

  /** Rejects with StaleEpochError when a later tenure has begun. */
  write(epoch: Epoch, value: number): Promise<void> {
    return this.#call((resource) => resource.write(epoch, value));
  }

  #call<T>(operation: (resource: FencedResource) => T): Promise<T> {
    const process = this.#process;
    const network = this.#network;
    return new Promise<T>((resolve, reject) => {
      process.send(() =>
        network.sendReliably(process.name, OBJECTS, () => {
          let settle: () => void;
          try {
            const result = operation(this.#resource);
            settle = () => resolve(result);
          } catch (error) {
            const failure = error instanceof Error ? error : new Error(String(error));
            settle = () => reject(failure);
          }
          network.sendReliablyInto(OBJECTS, process, this.#life, settle);
        }),
      );
    });
  }
}
