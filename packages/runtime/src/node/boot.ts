import type { Random } from "@keelson/kernel";

/** A name for one life of a process: whoever comes back under the same node id has another. */
export function newBoot(random: Random): string {
  const part = () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
  return part() + part();
}
