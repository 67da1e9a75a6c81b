/**
 * The demo in a fleet: puts it there, says whether it is there, and takes it away, through the gateway like anybody else. Whether it is there is known to the fleet
 * alone, so a demo that was removed stays removed. Its worker is another matter: it runs inside of `keelson up` (demo-worker.ts).
 */
import type { GatewayDoor } from "../admin/gateway-door.ts";
import { DEMO_REPOSITORY, DEMO_TENANT, SCHEDULES, firstJobs } from "./demo-content.ts";

/** What is in a fleet of the demo. */
export interface DemoFound {
  readonly repository: boolean;
  readonly schedules: number;
}

export interface DemoRemoved {
  readonly repositories: number;
  readonly schedules: number;
  readonly jobs: number;
}

interface Bulk {
  readonly done: number;
  readonly more: boolean;
}

const TENANT = `/v1/jobs/tenants/${DEMO_TENANT}`;
/** Calls for a thousand jobs each: more than an hour of demo ever makes. */
const BULK_CALLS_MAX = 100;

export class Demo {
  readonly #door: GatewayDoor;
  readonly #services: ReadonlySet<string>;

  /** `services` are those that the fleet runs: each has its own part of the demo. */
  constructor(door: GatewayDoor, services: Iterable<string>) {
    this.#door = door;
    this.#services = new Set(services);
  }

  async found(): Promise<DemoFound> {
    let repository = false;
    if (this.#services.has("code")) {
      // A fleet may have more of them than one page takes.
      const named = new URLSearchParams({ name: DEMO_REPOSITORY }).toString();
      const { repositories } = (await this.#door.ask("GET", `/v1/code/repositories?${named}`)) as {
        repositories: readonly { readonly name: string }[];
      };
      repository = repositories.some(({ name }) => name === DEMO_REPOSITORY);
    }
    return { repository, schedules: (await this.#schedules()).length };
  }

  /** Adds what is missing. `source` gives the folder of the repository to be searched. */
  async install(source: () => Promise<string>): Promise<void> {
    const { repository } = await this.found();
    if (this.#services.has("code") && !repository) {
      const added = { url: await source(), name: DEMO_REPOSITORY };
      await this.#door.ask("POST", "/v1/code/repositories", { repositories: [added] });
    }
    if (!this.#services.has("jobs")) return;
    for (const { id, ...schedule } of SCHEDULES)
      await this.#door.ask("PUT", `${TENANT}/schedules/${id}`, schedule);
    await this.#door.ask("POST", `${TENANT}/batch`, { jobs: firstJobs(Date.now()) });
  }

  /** Schedules first, or they would make new jobs meanwhile. */
  async remove(): Promise<DemoRemoved> {
    const { repository } = await this.found();
    const removed = { repositories: 0, schedules: 0, jobs: 0 };
    if (repository) {
      await this.#door.ask("POST", "/v1/code/repositories/remove", { names: [DEMO_REPOSITORY] });
      removed.repositories = 1;
    }
    if (!this.#services.has("jobs")) return removed;
    for (const { id } of await this.#schedules()) {
      await this.#door.ask("DELETE", `${TENANT}/schedules/${encodeURIComponent(id)}`);
      removed.schedules += 1;
    }
    await this.#bulk("cancel");
    removed.jobs = await this.#bulk("delete");
    return removed;
  }

  async #schedules(): Promise<readonly { readonly id: string }[]> {
    if (!this.#services.has("jobs")) return [];
    const { schedules } = (await this.#door.ask("GET", `${TENANT}/schedules?limit=1000`)) as {
      schedules: readonly { readonly id: string }[];
    };
    return schedules;
  }

  /** What a worker still runs is cancelled when it stops; an hour later it is forgotten. */
  async #bulk(action: "cancel" | "delete"): Promise<number> {
    let done = 0;
    for (let call = 0; call < BULK_CALLS_MAX; call++) {
      const answer = (await this.#door.ask("POST", `${TENANT}/bulk`, { action, where: {} })) as Bulk;
      done += answer.done;
      if (!answer.more || answer.done === 0) break;
    }
    return done;
  }
}
