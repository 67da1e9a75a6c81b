import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "@keelson/kernel";
import { ManualClock } from "@keelson/testkit";
import { storeContract, type StoreHarness } from "@keelson/testkit/store-contract";
import { parseAddress } from "@keelson/wire";
import { EmbeddedStore } from "../embedded/embedded-store.ts";
import { clock, random, sleep } from "../fixtures/real-clock.ts";
import { RemoteStore } from "./remote-store.ts";
import { StoreServer } from "./store-server.ts";

const LOOPBACK = { host: "127.0.0.1", port: 0 };
const HISTORY_MAX = 200;
const call = { timeoutMs: 5_000 };

/** An embedded store served on loopback, and two clients of it. The store's own clock is moved by hand, the network's is real. */
class RemoteHarness implements StoreHarness {
  readonly ttlMs = 1000;
  readonly graceMs = 1;
  readonly store: Store;
  readonly second: Store;
  readonly #folder: string;
  readonly #clock: ManualClock;
  #embedded: EmbeddedStore;
  #server: StoreServer;

  private constructor(folder: string, manual: ManualClock, embedded: EmbeddedStore, server: StoreServer) {
    this.#folder = folder;
    this.#clock = manual;
    this.#embedded = embedded;
    this.#server = server;
    const { address } = server;
    this.store = new RemoteStore({ address, clock, random });
    this.second = new RemoteStore({ address, clock, random });
  }

  static async open(): Promise<RemoteHarness> {
    const folder = mkdtempSync(join(tmpdir(), "keelson-remote-"));
    const manual = new ManualClock();
    const embedded = await EmbeddedStore.open({ folder, clock: manual, random, historyMax: HISTORY_MAX });
    const server = new StoreServer({ store: embedded, clock });
    await server.listen(LOOPBACK);
    return new RemoteHarness(folder, manual, embedded, server);
  }

  async sleep(ms: number): Promise<void> {
    await this.#clock.advance(ms);
    await sleep(2);
  }

  async restart(): Promise<void> {
    const { address } = this.#server;
    await this.#server.close({ graceMs: 100 });
    await this.#embedded.close();
    this.#embedded = await EmbeddedStore.open({
      folder: this.#folder,
      clock: this.#clock,
      random,
      historyMax: HISTORY_MAX,
    });
    this.#server = new StoreServer({ store: this.#embedded, clock });
    await this.#server.listen(parseAddress(address));
  }

  async forget(): Promise<void> {
    const { incarnation } = await this.store.range("", call);
    const churn = { guards: [], writes: [{ kind: "put", key: "/churn", value: "" }] } as const;
    await Promise.all(
      Array.from({ length: HISTORY_MAX + 1 }, () => this.store.commit(churn, { ...call, incarnation })),
    );
  }

  async close(): Promise<void> {
    await this.store.close();
    await this.second.close();
    await this.#server.close({ graceMs: 0 });
    await this.#embedded.close();
    rmSync(this.#folder, { recursive: true });
  }
}

storeContract("remote embedded store", () => RemoteHarness.open());
