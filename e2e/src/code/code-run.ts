/**
 * One fleet of code search under test: a real store, node processes, a gateway, generated repositories whose answers are known, and a look at the memory of every process
 * a few times a second. What is done to it, and what must hold then, is in the trials beside this file.
 */
import { startEtcd, startRedis, type TestServer } from "@keelson/testkit/servers";
import { CodeProcesses, type CodeProcessesOptions } from "./code-processes.ts";
import { eventually } from "./eventually.ts";

export interface RunTerms {
  readonly store: "redis" | "etcd";
  readonly nodes: number;
  readonly repositories: number;
  readonly ttlMs: number;
  /** Of each process. */
  readonly memoryMb: number;
  /** How long a step may take before it is given up. */
  readonly stepMs: number;
  readonly progress?: (text: string) => void;
}

/** What a trial found. Keys end in their unit; `broken` says in words which promise did not hold. */
export interface Trial {
  readonly figures: Readonly<Record<string, number>>;
  readonly broken: readonly string[];
}

interface AuctionFigures {
  readonly closed: number;
  readonly withinSecond: number;
  readonly timedOut: number;
  readonly won: number;
  readonly noWinner: number;
}

const memoryLookMs = 250;

export class CodeRun {
  readonly fleet: CodeProcesses;
  readonly terms: RunTerms;
  /** Files that have the common needle, by repository. */
  readonly expected = new Map<string, number>();
  readonly #server: TestServer;
  readonly #sampling: NodeJS.Timeout;
  #rssBytesMax = 0;
  /** What nodes that were killed had counted. */
  #lost: AuctionFigures = { closed: 0, withinSecond: 0, timedOut: 0, won: 0, noWinner: 0 };

  private constructor(terms: RunTerms, server: TestServer, fleet: CodeProcesses) {
    this.terms = terms;
    this.#server = server;
    this.fleet = fleet;
    this.#sampling = setInterval(() => this.#sample(), memoryLookMs);
  }

  static async start(terms: RunTerms, options: Partial<CodeProcessesOptions> = {}): Promise<CodeRun> {
    const { store, nodes, ttlMs, memoryMb } = terms;
    const server = store === "redis" ? await startRedis() : await startEtcd({ electionMs: 100 });
    const storeUrl = store === "redis" ? server.url : `etcd://127.0.0.1:${server.port}`;
    const fleet = new CodeProcesses({ storeUrl, replicas: 1, ttlMs, memoryMb, ...options });
    const run = new CodeRun(terms, server, fleet);
    try {
      run.say(`${nodes} nodes on ${store}`);
      await fleet.start(nodes);
      return run;
    } catch (error) {
      await run.stop();
      throw error;
    }
  }

  say(text: string): void {
    this.terms.progress?.(text);
  }

  /** Adds generated repositories, and waits until all of them answer. */
  async fill(count = this.terms.repositories): Promise<void> {
    const rows = Array.from({ length: count }, (_, i) => {
      const name = `repo${i}`;
      const files = 1 + (i % 5);
      this.expected.set(name, files);
      return { name, url: this.fleet.generate(name, files) };
    });
    this.say(`${count} repositories are added`);
    await this.fleet.add(rows);
    await this.whole();
    this.say("all of them answer");
  }

  /** Waits until one search has everything. */
  async whole(): Promise<void> {
    await eventually(
      "every repository answers",
      async () => {
        const { Missing, FileCount } = await this.fleet.search("common_needle");
        return Missing.length === 0 && FileCount === this.filesDue;
      },
      this.terms.stepMs,
    );
  }

  /** Waits until every replica of all is indexed. */
  async replicated(): Promise<void> {
    await eventually(
      "every replica is ready",
      async () =>
        (await this.fleet.status()).every(({ replicas }) =>
          replicas.every(({ index }) => index !== undefined),
        ),
      this.terms.stepMs,
    );
    this.say("every replica is ready");
  }

  /** Who holds which repository, once that has not changed for a while: memory is levelled first. */
  async settled(quietMs = 3_000): Promise<Map<string, string>> {
    let last = "";
    let since = performance.now();
    let where = new Map<string, string>();
    await eventually(
      "nothing moves",
      async () => {
        where = new Map(
          (await this.fleet.status()).map(({ name, replicas }) => [name, replicas[0]?.node ?? ""]),
        );
        const text = JSON.stringify([...where]);
        if (text !== last) since = performance.now();
        last = text;
        return performance.now() - since > quietMs;
      },
      this.terms.stepMs,
    );
    return where;
  }

  get filesDue(): number {
    let due = 0;
    for (const files of this.expected.values()) due += files;
    return due;
  }

  /** The largest that any process ever was, as a share of what it may take. */
  get rssShareMax(): number {
    return this.#rssBytesMax / (this.terms.memoryMb * 2 ** 20);
  }

  /** The sum of a metric over all nodes that are there. */
  async sum(name: string): Promise<number> {
    const each = await Promise.all([...this.fleet.nodes.keys()].map((node) => this.fleet.metric(node, name)));
    return each.reduce((total, value) => total + value, 0);
  }

  /** kill -9. What it had counted is remembered: it may have been the one that judged all auctions so far. */
  async kill(name: string): Promise<void> {
    this.#lost = added(this.#lost, await this.#auctionsOf(name));
    this.fleet.kill(name);
  }

  /** SIGSTOP is an outage, and SIGCONT its end. */
  signalStore(signal: "SIGSTOP" | "SIGCONT"): Promise<void> {
    return this.#server.kill(signal);
  }

  async auctions(): Promise<AuctionFigures> {
    const each = await Promise.all([...this.fleet.nodes.keys()].map((node) => this.#auctionsOf(node)));
    return each.reduce(added, this.#lost);
  }

  async #auctionsOf(node: string): Promise<AuctionFigures> {
    const [closed, withinSecond, timedOut, won, noWinner] = await this.fleet.metrics(node, [
      "bid_window_ms_count",
      'bid_window_ms_bucket{le="1000"}',
      "auctions_timed_out",
      "auctions_won",
      "auctions_no_winner",
    ] as const);
    return { closed, withinSecond, timedOut, won, noWinner };
  }

  async stop(): Promise<void> {
    clearInterval(this.#sampling);
    await this.fleet.stop();
    this.fleet.remove();
    await this.#server.stop();
  }

  #sample(): void {
    for (const name of this.fleet.nodes.keys())
      this.#rssBytesMax = Math.max(this.#rssBytesMax, this.fleet.rssBytes(name));
  }
}

function added(a: AuctionFigures, b: AuctionFigures): AuctionFigures {
  return {
    closed: a.closed + b.closed,
    withinSecond: a.withinSecond + b.withinSecond,
    timedOut: a.timedOut + b.timedOut,
    won: a.won + b.won,
    noWinner: a.noWinner + b.noWinner,
  };
}

/** No auction ran to the end of its window. When `quick`, all had a winner too, and 99 of 100 closed within a second: on a machine that is not ours alone nodes are slow to answer, and may be taken for lost. */
export function judgeAuctions(found: AuctionFigures, quick: boolean): Trial {
  const share = found.withinSecond / Math.max(1, found.closed);
  const broken = [];
  if (found.timedOut > 0) broken.push(`${found.timedOut} auctions ran to the end of their window`);
  if (quick && found.noWinner > 0) broken.push(`${found.noWinner} auctions had no winner`);
  if (quick && share < 0.99) broken.push(`${Math.round(share * 1_000) / 10} % of auctions closed within 1 s`);
  return {
    figures: { auctions: found.closed, auctionsWithinSecondShare: share, auctionsNoWinner: found.noWinner },
    broken,
  };
}
