/**
 * What `keelson up` offers to look at. In a new data folder the demo is put there, unless it is told not to or it serves a selection of services; later it is
 * only ever mentioned, never added. A demo that fails is told and does no harm to the fleet.
 */
import { join } from "node:path";
import { gatewayDoor } from "../admin/gateway-door.ts";
import { oneLine } from "../failure.ts";
import { Demo } from "./demo.ts";
import { DEMO_TENANT } from "./demo-content.ts";
import type { DemoWorker } from "./demo-worker.ts";
import { endFirstRun, isFirstRun } from "./first-mark.ts";
import { projectRepository } from "./project-repository.ts";

export interface FirstRunOptions {
  /** `--demo` is true, `--no-demo` false. */
  readonly wanted: boolean | undefined;
  /** Nobody chose the services, and nobody must bring a token. */
  readonly isPlain: boolean;
  readonly fleet: string;
  readonly data: string;
  readonly services: readonly string[];
  /** The gateway's. */
  readonly url: string;
  readonly token: string | undefined;
  /** Addresses of nodes, for the worker. */
  readonly nodes: readonly string[];
  readonly say: (line: string) => void;
  readonly problem: (text: string) => void;
}

/** Services that have something to show. */
const SHOWN = ["code", "jobs"];

export class FirstRun {
  readonly #options: FirstRunOptions;
  #worker: DemoWorker | undefined;

  constructor(options: FirstRunOptions) {
    this.#options = options;
  }

  /** Resolves when the demo is there or is known not to be; never rejects. */
  async start(): Promise<void> {
    const { wanted, isPlain, data, services, say, problem } = this.#options;
    const isFirst = isFirstRun(data);
    endFirstRun(data);
    if (wanted === false || !SHOWN.some((name) => services.includes(name))) return;
    // With tokens, looking would be refused.
    if (wanted === undefined && !isPlain) return;
    try {
      const isAdded = wanted ?? isFirst;
      const isThere = await (isAdded ? this.#install() : this.#look());
      if (!isThere) return;
      if (services.includes("jobs")) await this.#work();
      say(
        isAdded
          ? `  demo: the source of Keelson can be searched, and tenant ${DEMO_TENANT} has jobs and schedules; keelson demo remove takes it away`
          : "  demo: it is still here, with its worker; keelson demo remove takes it away",
      );
    } catch (error) {
      problem(
        `the demo could not be set up: ${oneLine(error instanceof Error ? error.message : String(error))}`,
      );
    }
  }

  async stop(): Promise<void> {
    await this.#worker?.stop();
    this.#worker = undefined;
  }

  async #install(): Promise<boolean> {
    await this.#demo().install(() => projectRepository(join(this.#options.data, "demo")));
    return true;
  }

  async #look(): Promise<boolean> {
    const { repository, schedules } = await this.#demo().found();
    return repository || schedules > 0;
  }

  async #work(): Promise<void> {
    const { fleet, nodes, problem } = this.#options;
    // Loaded here, because whoever has no demo should not wait for it.
    const { DemoWorker } = await import("./demo-worker.ts");
    this.#worker = await DemoWorker.start({
      fleet,
      nodes,
      onProblem: (error) => problem(`the demo's worker: ${oneLine(error.message)}`),
    });
  }

  #demo(): Demo {
    const { url, token, services } = this.#options;
    return new Demo(gatewayDoor(url, token), services);
  }
}
