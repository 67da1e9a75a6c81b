/* oxlint-disable vitest/expect-expect -- assertions are in functions of their own. */
/**
 * What a store that is reached over a network owes its callers when the network is bad: no call without an end, no doubt where there is none, nothing carried out
 * twice, nothing missed. A TCP proxy stands between the store and its server. It is the contract's second part, for stores to which it applies.
 */
import { StoreImage, type Commit, type Revision, type Store } from "@keelson/kernel";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TcpProxy } from "../tcp-proxy.ts";

export interface NetworkHarness {
  /** Where the server listens, on the loopback address. */
  readonly port: number;
  /** A client of the server at another port, which leads to the same server; each test has keys to itself. */
  connect(port: number): Store;
  /** Makes the store drop its history of changes. */
  forget(store: Store): Promise<void>;
}

const CALL = { timeoutMs: 5_000 };
const SHORT_MS = 150;
/** Connections that are cut, each somewhere else. */
const ROUNDS = 21;
/** What a busy machine may add to a deadline. */
const SLACK_MS = 2_000;

const put = (key: string, value = "v"): Commit => ({ guards: [], writes: [{ kind: "put", key, value }] });

const after = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

async function until(what: string, holds: () => boolean | Promise<boolean>, withinMs = 8_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  // oxlint-disable-next-line no-await-in-loop -- looking again comes after a wait.
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    // oxlint-disable-next-line no-await-in-loop -- the same.
    await after(10);
  }
}

/** How a call ended, and after how long. */
async function ending(call: Promise<unknown>): Promise<{ code: string; message: string; ms: number }> {
  const from = performance.now();
  const how = await call.then(
    () => ({ code: "answered", message: "" }),
    (error: unknown) => error as { code: string; message: string },
  );
  return { code: how.code, message: how.message, ms: performance.now() - from };
}

export function networkStoreContract(name: string, open: () => NetworkHarness): void {
  describe(`${name} on a bad network`, () => {
    let proxy: TcpProxy;
    let store: Store;
    let direct: Store;
    let incarnation: string;
    let tests = 0;
    let prefix = "";

    beforeEach(async () => {
      const server = open();
      tests += 1;
      prefix = `/network/${tests}/`;
      proxy = await TcpProxy.open(server.port);
      store = server.connect(proxy.port);
      direct = server.connect(server.port);
      ({ incarnation } = await direct.range(prefix, CALL));
    });

    afterEach(async () => {
      await Promise.all([store.close(), direct.close()]);
      await proxy.close();
    });

    /** Every call, with the code that it ends with when its answer is lost. */
    const calls = (timeoutMs: number): (readonly [string, () => Promise<unknown>])[] => [
      ["STORE_UNAVAILABLE", () => store.range(prefix, { timeoutMs })],
      ["STORE_UNKNOWN", () => store.commit(put(`${prefix}x`), { timeoutMs, incarnation })],
      ["STORE_UNKNOWN", () => store.openSession(1_000, { timeoutMs })],
      ["STORE_UNKNOWN", () => store.renew(["00000000000000aa"], { timeoutMs })],
      ["STORE_UNKNOWN", () => store.revoke("00000000000000aa", { timeoutMs })],
    ];
    /** For reading and for writing, which may have connections of their own. */
    const answers = (): Promise<boolean> =>
      Promise.all([
        store.range(prefix, CALL),
        store.commit({ guards: [], writes: [] }, { ...CALL, incarnation }),
      ]).then(
        () => true,
        () => false,
      );

    test("in a black hole every call ends within its time, and the connection is replaced", async () => {
      for (const [code, call] of calls(SHORT_MS)) {
        proxy.heal();
        // oxlint-disable-next-line no-await-in-loop -- one call after the other, each on a connection that works at first.
        await until("the store answers", answers);
        const { accepted } = proxy;
        proxy.blackHole();
        // oxlint-disable-next-line no-await-in-loop -- the same.
        const ended = await ending(call());
        expect(ended.code).toBe(code);
        expect(ended.ms).toBeLessThan(SHORT_MS + SLACK_MS);
        // Still in the black hole: the same call again does not wait for the connection that said nothing.
        // oxlint-disable-next-line no-await-in-loop -- the same.
        await ending(call());
        expect(proxy.accepted).toBeGreaterThan(accepted);
        proxy.heal();
        // oxlint-disable-next-line no-await-in-loop -- the same.
        await until("the store answers again", answers);
      }
    });

    test("where nothing ever answered, every call ends within its time, as not sent, and names the address", async () => {
      proxy.blackHole();
      const ended = await Promise.all(calls(SHORT_MS).map(([, call]) => ending(call())));
      expect(new Set(ended.map(({ code }) => code))).toEqual(new Set(["STORE_UNAVAILABLE"]));
      expect(Math.max(...ended.map(({ ms }) => ms))).toBeLessThan(SHORT_MS + SLACK_MS);
      for (const { message } of ended) expect(message).toContain(`127.0.0.1:${proxy.port}`);
    });

    test("where nobody listens, every call ends at once, as not sent, and says what to check", async () => {
      await proxy.close();
      const ended = await Promise.all(calls(5_000).map(([, call]) => ending(call())));
      expect(new Set(ended.map(({ code }) => code))).toEqual(new Set(["STORE_UNAVAILABLE"]));
      expect(Math.max(...ended.map(({ ms }) => ms))).toBeLessThan(SLACK_MS);
      for (const { message } of ended) expect(message).toMatch(/127\.0\.0\.1:\d+.*check the address/);
      const told: string[] = [];
      store.watch(prefix, 0, {
        changes: () => void told.push("changes"),
        relist: () => void told.push("relist"),
        closed: () => void told.push("closed"),
      });
      await until("the watch ends", () => told.length > 0);
      expect(told).toEqual(["closed"]);
      proxy = await TcpProxy.open(open().port);
    });

    test("a commit whose answer is swallowed is unknown, and was carried out once", async () => {
      await until("the store answers", answers);
      const { revision } = await direct.range(prefix, CALL);
      proxy.set({ kind: "swallow" }, "down");
      const { code } = await ending(store.commit(put(`${prefix}a`), { timeoutMs: SHORT_MS, incarnation }));
      expect(code).toBe("STORE_UNKNOWN");
      await until("it is carried out", async () => (await direct.range(prefix, CALL)).entries.length > 0);
      proxy.heal();
      await until("the store answers again", answers);
      await after(50);
      expect((await direct.range(prefix, CALL)).revision).toBe(revision + 1);
    });

    test("a commit is carried out once or not at all, wherever the connection is cut", async () => {
      const { revision } = await direct.range(prefix, CALL);
      const codes: string[] = [];
      for (let n = 0; n < ROUNDS; n += 1) {
        const direction = n % 2 === 0 ? "up" : "down";
        if (n % 3 !== 0) proxy.set({ kind: "cut-after", bytes: 1 + ((n * 37) % 400) }, direction);
        const one = [`${n}a`, `${n}b`, `${n}c`].map((key) =>
          ending(store.commit(put(prefix + key), { timeoutMs: 1_000, incarnation })),
        );
        // oxlint-disable-next-line no-await-in-loop -- each round has a cut of its own.
        codes.push(...(await Promise.all(one)).map(({ code }) => code));
      }
      proxy.heal();
      await until("the store answers", answers);
      await after(100);
      const page = await direct.range(prefix, { ...CALL, limit: 1_000 });
      const count = (code: string): number => codes.filter((each) => each === code).length;
      // Every commit writes a key of its own, so a second time would be a revision without a key.
      expect(page.revision - revision).toBe(page.entries.length);
      expect(page.entries.length).toBeGreaterThanOrEqual(count("answered"));
      expect(page.entries.length).toBeLessThanOrEqual(count("answered") + count("STORE_UNKNOWN"));
      expect(count("answered") + count("STORE_UNKNOWN") + count("STORE_UNAVAILABLE")).toBe(3 * ROUNDS);
      expect(count("STORE_UNKNOWN")).toBeGreaterThan(0);
      expect(count("answered")).toBeGreaterThan(0);
    });

    test("a watch that is cut and resumes from what it was told misses nothing and repeats nothing", async () => {
      const from = (await direct.range(prefix, CALL)).revision;
      const seen: string[] = [];
      const ends: string[] = [];
      let reached: Revision = from;
      let writing = true;
      const watch = (): void =>
        void store.watch(prefix, reached, {
          changes: (batch) => {
            reached = batch.revision;
            for (const change of batch.changes) if (change.kind === "put") seen.push(change.entry.value);
          },
          relist: () => void ends.push("relist"),
          closed: () => {
            ends.push("closed");
            if (writing || seen.length < 60) setTimeout(watch, 5);
          },
        });
      watch();
      for (let n = 0; n < 60; n += 1) {
        // oxlint-disable-next-line no-await-in-loop -- in order.
        await direct.commit(put(`${prefix}n`, `${n}`), { ...CALL, incarnation });
        if (n % 15 === 7) proxy.cut();
        // oxlint-disable-next-line no-await-in-loop -- leaves time for some to be delivered before the next cut.
        if (n % 5 === 0) await after(10);
      }
      writing = false;
      await until("everything arrives", () => seen.length >= 60);
      expect(seen).toEqual(Array.from({ length: 60 }, (_, n) => `${n}`));
      expect(ends).not.toContain("relist");
      expect(ends.length).toBeGreaterThan(0);
    });

    test("a watch that was away while the log was trimmed must list again, and nothing is missed", async () => {
      const image = new StoreImage();
      const told: string[] = [];
      const list = async (): Promise<void> => {
        image.relist([await store.range(prefix, CALL)]);
      };
      const watch = (): void =>
        void store.watch(prefix, image.revision, {
          changes: ({ revision, changes }) => void image.apply(revision, changes),
          relist: () => void told.push("relist"),
          closed: () => void told.push("closed"),
        });
      const commit = (...writes: Commit["writes"]): Promise<unknown> =>
        direct.commit({ guards: [], writes }, { ...CALL, incarnation });
      await commit(...["a", "b", "c"].flatMap((key) => put(prefix + key).writes));
      await list();
      watch();
      await commit(...put(`${prefix}d`).writes);
      await until("the watch is told", () => image.size === 4);
      proxy.refuse();
      await until("the watch ends", () => told.length > 0);
      await commit({ kind: "delete", key: `${prefix}a` }, ...put(`${prefix}b`, "changed").writes);
      await open().forget(direct);
      await commit(...put(`${prefix}e`).writes);
      proxy.heal();
      watch();
      await until("the watch ends again", () => told.length > 1);
      expect(told).toEqual(["closed", "relist"]);
      await list();
      watch();
      await commit({ kind: "delete", key: `${prefix}c` });
      await until("the last change arrives", () => image.get(`${prefix}c`) === undefined);
      const { entries } = await direct.range(prefix, CALL);
      expect([...image.entries()].toSorted((one, two) => (one.key < two.key ? -1 : 1))).toEqual(entries);
    });

    test("a watch in a black hole is ended, so that its reader learns that it is blind", async () => {
      const told: string[] = [];
      const { revision } = await direct.range(prefix, CALL);
      store.watch(prefix, revision, {
        changes: () => void told.push("changes"),
        relist: () => void told.push("relist"),
        closed: () => void told.push("closed"),
      });
      await direct.commit(put(`${prefix}a`), { ...CALL, incarnation });
      await until("the watch is told", () => told.length === 1);
      proxy.blackHole();
      await until("the watch ends", () => told.length === 2, 5_000);
      expect(told).toEqual(["changes", "closed"]);
    });
  });
}
