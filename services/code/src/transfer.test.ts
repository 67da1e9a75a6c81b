import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import type { CodeIndex } from "./engine/index.ts";
import { beginReceiving, Transfers } from "./transfer.ts";

function indexOf(serialize: () => AsyncIterable<Uint8Array>): CodeIndex {
  return { serialize, stats: { contentBytes: 1, memoryBytes: 1 } } as unknown as CodeIndex;
}

test("an index that cannot be read to its end keeps no place from those that can be sent", async () => {
  const transfers = new Transfers(new ManualClock());
  const broken = indexOf(async function* () {
    yield new Uint8Array(1);
    throw new Error("its memory is gone");
  });
  for (let sent = 0; sent < 20; sent++) {
    const { transfer } = transfers.begin(broken, [], 0);
    await expect(transfers.next(transfer)).rejects.toThrow("its memory is gone");
    await expect(transfers.next(transfer)).rejects.toMatchObject({ code: "TRANSFER_ENDED" });
  }
});

test("a sender that never has a place is waited for two minutes, and not asked again by who has given up", async () => {
  const clock = new ManualClock();
  let asked = 0;
  const call = (): Promise<never> => {
    asked += 1;
    return Promise.reject(Object.assign(new Error("busy"), { code: "TRANSFER_BUSY" }));
  };
  const ports = {
    clock,
    random: () => 0.5,
    access: { call } as never,
    node: "a",
    replicas: 1,
    holder: () => "b",
  };
  const failed = (signal: AbortSignal): Promise<unknown> =>
    beginReceiving(ports, { id: 1, replica: 0 }, signal).catch((error: unknown) => error);
  const patient = failed(new AbortController().signal);
  await clock.advance(119_000);
  expect(asked).toBeGreaterThan(400);
  await clock.advance(2_000);
  expect(await patient).toMatchObject({ code: "TRANSFER_BUSY" });
  asked = 0;
  const giving = new AbortController();
  const ended = failed(giving.signal);
  await clock.advance(0);
  giving.abort();
  await clock.advance(1_000);
  expect(await ended).toMatchObject({ code: "TRANSFER_BUSY" });
  expect([asked, clock.timers]).toEqual([1, 0]);
});

test("a holder that is still getting ready is waited for when its own replica moves, and not for another", async () => {
  const clock = new ManualClock();
  const holders = ["b", "c"];
  const asked: unknown[] = [];
  let warm = false;
  const call = ({ replica }: { replica: number }): Promise<unknown> => {
    asked.push(replica);
    return replica === 0 && warm
      ? Promise.resolve({ node: "b", body: { transfer: "1" } })
      : Promise.reject(Object.assign(new Error("warming"), { code: "WARMING" }));
  };
  const ports = {
    clock,
    random: () => 0.5,
    access: { call } as never,
    node: "a",
    replicas: 2,
    holder: (_: number, replica: number) => holders[replica],
  };
  const { signal } = new AbortController();
  const receive = (): Promise<unknown> =>
    beginReceiving(ports, { id: 1, replica: 0 }, signal).catch((error: unknown) => error);
  const moved = receive();
  await clock.advance(2_000);
  expect(asked.length).toBeGreaterThan(4);
  warm = true;
  await clock.advance(1_000);
  expect(await moved).toMatchObject({ node: "b", begun: { transfer: "1" } });
  // Replica 0 is its own: nobody else builds it.
  holders[0] = "a";
  expect(await receive()).toMatchObject({ code: "WARMING" });
  holders[1] = "a";
  expect([await receive(), clock.timers]).toEqual([undefined, 0]);
});
