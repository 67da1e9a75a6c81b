/** Long runs of operations drawn at random: whatever they are, a store says and keeps what the store in memory does. */
import type { CommitOutcome, Guard, Store, Write } from "@keelson/kernel";
import { MemoryStore } from "@keelson/stores/memory";
import { expect } from "vitest";
import { ManualClock } from "../manual-clock.ts";
import type { Facts } from "./facts.ts";
import type { Scene } from "./scene.ts";

const OPERATIONS = 150;
const KEYS = 10;
const SESSIONS_MAX = 4;
/** No session ends by itself meanwhile. */
const TTL_MS = 60_000;

/** A small generator (mulberry32): the same seed draws the same run. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) % below;
  };
}

/** One of the two stores that are compared: sessions have numbers here, and revisions count from where the run began. */
class Side {
  readonly store: Store;
  readonly prefix: string;
  readonly incarnation: string;
  readonly start: number;
  readonly sessions: string[] = [];

  static async begin(store: Store, prefix: string): Promise<Side> {
    return new Side(store, prefix, await store.range(prefix, { timeoutMs: 10_000 }));
  }

  private constructor(store: Store, prefix: string, at: { incarnation: string; revision: number }) {
    this.store = store;
    this.prefix = prefix;
    this.incarnation = at.incarnation;
    this.start = at.revision;
  }

  async commit(
    guards: readonly { key: string; at: number }[],
    writes: readonly { key: string; value?: string; session?: number }[],
  ): Promise<unknown> {
    const asGuard = ({ key, at }: { key: string; at: number }): Guard => ({
      key: this.prefix + key,
      revision: at === 0 ? 0 : at + this.start,
    });
    const asWrite = ({ key, value, session }: (typeof writes)[number]): Write => {
      if (value === undefined) return { kind: "delete", key: this.prefix + key };
      const bound = session === undefined ? undefined : this.sessions[session];
      return {
        kind: "put",
        key: this.prefix + key,
        value,
        ...(bound === undefined ? {} : { session: bound }),
      };
    };
    const commit = { guards: guards.map(asGuard), writes: writes.map(asWrite) };
    const call = { timeoutMs: 10_000, incarnation: this.incarnation };
    return this.#said(await this.store.commit(commit, call));
  }

  async open(): Promise<void> {
    this.sessions.push((await this.store.openSession(TTL_MS, { timeoutMs: 10_000 })).session);
  }

  async revoke(session: number): Promise<unknown> {
    const { revision } = await this.store.revoke(this.sessions[session] as string, { timeoutMs: 10_000 });
    return revision - this.start;
  }

  async entries(): Promise<{ key: string; value: string; at: number; session: number }[]> {
    const page = await this.store.range(this.prefix, { timeoutMs: 10_000 });
    return page.entries.map(({ key, value, revision, session }) => ({
      key: key.slice(this.prefix.length),
      value,
      at: revision - this.start,
      session: session === undefined ? -1 : this.sessions.indexOf(session),
    }));
  }

  #said(outcome: CommitOutcome): unknown {
    const at = outcome.revision - this.start;
    if (outcome.kind !== "conflict") return { kind: outcome.kind, at };
    return {
      kind: outcome.kind,
      at,
      failed: [...new Set(outcome.failed)].map((key) => key.slice(this.prefix.length)).toSorted(),
      gone: outcome.gone.map((session) => this.sessions.indexOf(session)).toSorted((a, b) => a - b),
    };
  }
}

async function compare(scene: Scene, seed: number): Promise<void> {
  const below = generator(seed);
  const model = new MemoryStore({ clock: new ManualClock(), random: () => below(2 ** 30) / 2 ** 30 });
  const sides = [await Side.begin(model, ""), await Side.begin(scene.store, scene.prefix)] as const;
  const both = async (does: (side: Side) => Promise<unknown>): Promise<void> => {
    const [expected, said] = [await does(sides[0]), await does(sides[1])];
    expect(said, `seed ${seed}`).toEqual(expected);
  };
  for (let n = 0; n < OPERATIONS; n += 1) {
    const sessions = sides[0].sessions.length;
    const draw = below(20);
    // oxlint-disable no-await-in-loop -- one operation after the other.
    if (sessions === 0 || (draw === 0 && sessions < 20)) await both((side) => side.open());
    else if (draw === 1) {
      const session = below(sessions);
      await both((side) => side.revoke(session));
    } else {
      const known = await sides[0].entries();
      const guards = Array.from({ length: below(3) }, () => {
        const key = `k${below(KEYS)}`;
        const now = known.find((entry) => entry.key === key)?.at ?? 0;
        return { key, at: below(6) === 0 ? now + 1 : now };
      });
      const keys = new Set(Array.from({ length: below(6) }, () => `k${below(KEYS)}`));
      const writes = Array.from(keys, (key) => {
        if (below(4) === 0) return { key };
        const recent = sessions - 1 - below(Math.min(sessions, SESSIONS_MAX));
        return { key, value: `v${n}`, ...(below(2) === 0 ? { session: recent } : {}) };
      });
      await both((side) => side.commit(guards, writes));
    }
    if (n % 10 === 0) await both((side) => side.entries());
    // oxlint-enable no-await-in-loop
  }
  await both((side) => side.entries());
  for (const session of sides[1].sessions.keys()) {
    // oxlint-disable-next-line no-await-in-loop -- in order.
    await both((side) => side.revoke(session));
  }
  await both((side) => side.entries());
}

export const models: Facts = {
  about: "any run",
  facts: {
    "random commits and sessions end as they do in memory, and a watch makes the same copy": async (
      scene,
    ) => {
      const watch = scene.watch(await scene.revision());
      await compare(scene, 1 + Math.floor(Math.random() * 2 ** 31));
      await scene.caughtUp(watch);
      const copy = new Map<string, string>();
      for (const { changes } of watch.batches)
        for (const change of changes) {
          if (change.kind === "put") copy.set(change.entry.key, change.entry.value);
          else expect(copy.delete(change.key), `${change.key} was there`).toBe(true);
        }
      const truth = (await scene.entries()).map(({ key, value }) => [scene.prefix + key, value] as const);
      expect(copy).toEqual(new Map(truth));
    },
  },
};
