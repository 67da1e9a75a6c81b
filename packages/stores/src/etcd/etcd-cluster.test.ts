/** An etcd store on a cluster of three members, of which some die or stop. */
import type { Revision, Store } from "@keelson/kernel";
import { startEtcdCluster, type TestServer } from "@keelson/testkit/servers";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { clock, random, sleep } from "../fixtures/real-clock.ts";
import { EtcdStore } from "./etcd-store.ts";

const CALL = { timeoutMs: 2_000 };
const ELECTION_MS = 300;

let members: TestServer[] = [];
let store: EtcdStore;
let incarnation: string;

beforeAll(async () => {
  members = await startEtcdCluster(3, { electionMs: ELECTION_MS });
});

afterAll(async () => {
  // In an orderly end each member would first hand its leadership on, for seconds.
  await Promise.all(members.map((member) => member.kill("SIGKILL")));
  await Promise.all(members.map((member) => member.stop()));
});

beforeEach(async () => {
  // It begins with the first endpoint, and draws at random afterwards.
  let draws = 0;
  store = new EtcdStore({
    clock,
    random: () => (draws++ === 0 ? 0 : random()),
    endpoints: members.map(({ port }) => ({ host: "127.0.0.1", port })),
  });
  await until("the cluster serves", () => answers(store), 20_000);
  ({ incarnation } = await store.range("/", CALL));
});

afterEach(() => store.close());

function answers(client: Store): Promise<boolean> {
  return client.range("/", CALL).then(
    () => true,
    () => false,
  );
}

async function until(what: string, holds: () => boolean | Promise<boolean>, withinMs: number): Promise<void> {
  const deadline = clock.now() + withinMs;
  while (!(await holds())) {
    if (clock.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(5);
  }
}

/** Writes until told to stop; gives the keys that were acknowledged, and checks that revisions rise. */
function write(prefix: string, timeoutMs: number): { stop: () => Promise<string[]>; acknowledged: string[] } {
  const acknowledged: string[] = [];
  let running = true;
  const writing = (async () => {
    let last: Revision = 0;
    for (let n = 0; running; n += 1) {
      const key = `${prefix}${n}`;
      const writes = [{ kind: "put", key, value: "v" }] as const;
      const outcome = await store
        .commit({ guards: [], writes }, { timeoutMs, incarnation })
        .catch(() => undefined);
      if (outcome === undefined) continue;
      expect([outcome.kind, outcome.revision > last]).toEqual(["committed", true]);
      last = outcome.revision;
      acknowledged.push(key);
    }
  })();
  const stop = async (): Promise<string[]> => {
    running = false;
    await writing;
    return acknowledged;
  };
  return { stop, acknowledged };
}

async function keys(prefix: string): Promise<string[]> {
  const page = await store.range(prefix, { ...CALL, limit: 1_000 });
  return page.entries.map(({ key }) => key);
}

test.each([
  ["dies", "SIGKILL"],
  ["stops for a while", "SIGSTOP"],
] as const)(
  "when the member it talks to %s, it goes on with another, and nothing acknowledged is lost",
  async (_how, signal) => {
    const [member] = members as [TestServer];
    const prefix = `/cluster/${signal}/`;
    const { session } = await store.openSession(10_000, CALL);
    const writer = write(prefix, 300);
    await until("some are written", () => writer.acknowledged.length > 10, 10_000);
    await member.kill(signal);
    const before = writer.acknowledged.length;
    await until("more are written", () => writer.acknowledged.length > before + 10, 10_000);
    const acknowledged = await writer.stop();
    expect(await keys(prefix)).toEqual(expect.arrayContaining(acknowledged));
    expect((await store.range(prefix, CALL)).incarnation).toBe(incarnation);
    expect((await store.renew([session], CALL)).alive).toEqual([session]);
    if (signal === "SIGSTOP") await member.kill("SIGCONT");
    else await member.restart();
  },
);

test("a member that is left alone says so in time, ends its watches, and serves again with the others", async () => {
  const [, ...others] = members;
  const told: string[] = [];
  const { revision } = await store.range("/", CALL);
  store.watch("/cluster/", revision, {
    changes: () => {},
    relist: () => void told.push("relist"),
    closed: () => void told.push("closed"),
  });
  await sleep(100);
  await Promise.all(others.map((member) => member.kill("SIGSTOP")));
  await until("the watch ends", () => told.length > 0, 10_000);
  expect(told).toEqual(["closed"]);
  const startedAt = clock.now();
  await expect(store.range("/", { timeoutMs: 1_000 })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(clock.now() - startedAt).toBeLessThan(2_000);
  await Promise.all(others.map((member) => member.kill("SIGCONT")));
  await until("it serves again", () => answers(store), 10_000);
});
