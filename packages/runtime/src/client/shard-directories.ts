import { hash, shardIds, type ServiceParameters, type View } from "@keelson/kernel";
import type { ShardDirectory } from "../plugin/fleet-access.ts";
import { RouterError } from "../router/router-error.ts";

/** Which shards each service has, as its view says; fed with views as they change. */
export class ShardDirectories {
  readonly #directories = new Map<string, Directory>();

  put(service: string, view: View): void {
    this.#directories.set(service, new Directory(service, view.parameters));
  }

  of(service: string): ShardDirectory {
    return this.#directories.get(service) ?? new Directory(service, undefined);
  }
}

class Directory implements ShardDirectory {
  readonly parameters: ServiceParameters | undefined;
  readonly #service: string;
  #ids: readonly string[] | undefined;
  #set: ReadonlySet<string> | undefined;

  constructor(service: string, parameters: ServiceParameters | undefined) {
    this.#service = service;
    this.parameters = parameters;
  }

  get ids(): readonly string[] {
    this.#ids ??= this.parameters ? shardIds(this.parameters) : [];
    return this.#ids;
  }

  has(shard: string): boolean {
    this.#set ??= new Set(this.ids);
    return this.#set.has(shard);
  }

  byHash(key: string): string {
    const { ids } = this;
    const found = ids[hash(key) % ids.length];
    if (found !== undefined) return found;
    const text = "no view of the service is known here yet: start a node that offers it, or try again";
    throw new RouterError(
      { service: this.#service, shard: key },
      { code: "NO_HOLDER", text, unknown: false },
      0,
    );
  }
}
