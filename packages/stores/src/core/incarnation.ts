/** Names a store's life: a new one for every store that is new, restored, or has lost writes. */
import type { Random } from "@keelson/kernel";

/** 64 random bits: two stores of one fleet never share a name by chance. */
export function newIncarnation(random: Random): string {
  const word = (): string =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
  return word() + word();
}
