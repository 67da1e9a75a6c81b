import { describe, expect, test } from "vitest";
import { EpochMemory, WRITES } from "./epoch-memory.ts";

const epoch = (era: number, revision: number) => ({ era, revision });

describe("EpochMemory", () => {
  test("keeps the greatest epoch of each replica, and write epochs apart from them", () => {
    const memory = new EpochMemory();
    const shard = memory.of("jobs", "1");
    shard.see(0, epoch(1, 5));
    shard.see(0, epoch(1, 4));
    shard.see(2, epoch(1, 9));
    shard.see(WRITES, epoch(1, 2));
    expect([shard.floor(0), shard.floor(1), shard.floor(2), shard.floor(WRITES)]).toEqual([
      epoch(1, 5),
      undefined,
      epoch(1, 9),
      epoch(1, 2),
    ]);
    shard.see(0, epoch(2, 1));
    expect(memory.of("jobs", "1").floor(0)).toEqual(epoch(2, 1));
  });

  test("tells shards and services apart", () => {
    const memory = new EpochMemory();
    memory.of("jobs", "1").see(0, epoch(1, 5));
    expect(memory.of("jobs", "2").floor(0)).toBeUndefined();
    expect(memory.of("logs", "1").floor(0)).toBeUndefined();
    expect(memory.of("jobs", "1").floor(0)).toEqual(epoch(1, 5));
  });

  test("forgets the shard it has known longest when it is full", () => {
    const memory = new EpochMemory(2);
    for (const shard of ["1", "2", "3"]) memory.of("jobs", shard).see(0, epoch(1, 5));
    expect(memory.of("jobs", "3").floor(0)).toEqual(epoch(1, 5));
    expect(memory.of("jobs", "2").floor(0)).toEqual(epoch(1, 5));
    expect(memory.of("jobs", "1").floor(0)).toBeUndefined();
  });
});
