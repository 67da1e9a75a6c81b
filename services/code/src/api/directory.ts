/**
 * The list of repositories as a gateway knows it, asked of the catalogue's shard when the view of the service says that it has changed. When nobody answers, what was
 * last known is used, and said to be old; when nothing was ever known, the view's shards are asked without knowing what they are.
 */
import type { FleetAccess } from "@keelson/runtime";
import type { Repository } from "../repository.ts";
import { allPages } from "./ask-catalogue.ts";

interface Listing {
  /** Undefined: nobody could be asked. */
  readonly repositories: readonly Repository[] | undefined;
  /** Why the list may not be as it is now. */
  readonly problem: string | undefined;
}

const patienceMs = 500;
/** Whoever is asked may not have seen the newest change yet. */
const asksMax = 2;

class Directory {
  readonly #access: FleetAccess;
  #known: { readonly revision: number; readonly repositories: readonly Repository[] } | undefined;
  #asking: Promise<void> | undefined;
  /** Changes that were made through here, and how many of them the list that is known was asked for after. */
  #changes = 0;
  #seen = 0;

  constructor(access: FleetAccess) {
    this.#access = access;
  }

  /** The list was changed through here: whoever searches now finds it changed, though the view says so only in a moment. */
  changed(): void {
    this.#changes++;
  }

  async list(): Promise<Listing> {
    const revision = this.#access.shards("code").parameters?.revision ?? 0;
    try {
      for (let asks = 0; asks < asksMax && (this.#seen < this.#changes || this.#older(revision)); asks++)
        await this.#asked();
    } catch (error) {
      return this.#old(error instanceof Error ? error.message : String(error));
    }
    if (this.#older(revision)) return this.#old("whoever keeps it has not seen the newest change yet");
    return { repositories: this.#known?.repositories, problem: undefined };
  }

  #older(revision: number): boolean {
    return this.#known === undefined || this.#known.revision < revision;
  }

  #old(why: string): Listing {
    return {
      repositories: this.#known?.repositories,
      problem: `the list of repositories may be old: ${why}`,
    };
  }

  #asked(): Promise<void> {
    return (this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    }));
  }

  async #ask(): Promise<void> {
    const changes = this.#changes;
    this.#known = await allPages<Repository>(this.#access, "list", { patienceMs });
    this.#seen = changes;
  }
}

/** One directory for each way into the fleet. */
const directories = new WeakMap<FleetAccess, Directory>();

export function directoryOf(access: FleetAccess): Directory {
  let directory = directories.get(access);
  if (!directory) directories.set(access, (directory = new Directory(access)));
  return directory;
}
