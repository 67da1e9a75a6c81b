import type { Store } from "@keelson/kernel";
import { etcdctl, startEtcd, type TestServer } from "@keelson/testkit/servers";
import { networkStoreContract, storeContract, type StoreHarness } from "@keelson/testkit/store-contract";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll } from "vitest";
import { clock, random } from "../fixtures/real-clock.ts";
import { EtcdStore } from "./etcd-store.ts";

let etcd: TestServer;

beforeAll(async () => {
  etcd = await startEtcd({ electionMs: 100 });
});

afterAll(() => etcd.stop());

function client(port = etcd.port): EtcdStore {
  return new EtcdStore({ clock, random, endpoints: [{ host: "127.0.0.1", port }] });
}

async function forget(store: Store): Promise<void> {
  const { revision } = await store.range("", { timeoutMs: 1_000 });
  await etcdctl(etcd, "compact", `${revision}`);
}

/** Sessions that a fact leaves behind would end, and take a revision, in the middle of another fact. */
function tidily(store: EtcdStore, opened: string[]): Store {
  const openSession = store.openSession.bind(store);
  store.openSession = async (ttlMs, options) => {
    const session = await openSession(ttlMs, options);
    opened.push(session.session);
    return session;
  };
  return store;
}

// etcd's deletions do not say why.
storeContract(
  "etcd store",
  (): Promise<StoreHarness> => {
    const opened: string[] = [];
    const [store, second] = [tidily(client(), opened), tidily(client(), opened)];
    return Promise.resolve({
      store,
      second,
      ttlMs: 2_000,
      graceMs: 1_000,
      sleep: (ms) => sleep(ms),
      restart: () => etcd.restart(),
      forget: () => forget(store),
      close: async () => {
        await Promise.all([store.close(), second.close()]);
        const last = client();
        await Promise.all(opened.map((session) => last.revoke(session, { timeoutMs: 5_000 })));
        await last.close();
      },
    });
  },
  ["expired"],
);

networkStoreContract("etcd store", () => ({ port: etcd.port, connect: client, forget }));
