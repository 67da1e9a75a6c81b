import { objectContract } from "../contract-suite/index.ts";
import { MemoryObjects } from "./memory-objects.ts";

objectContract("objects in memory", async () => {
  const objects = new MemoryObjects();
  return {
    objects,
    second: objects,
    damage: async (key, at) => objects.damage(key, at),
    // Nothing waits in memory.
    silent: async () => undefined,
    close: () => objects.close(),
  };
});
