/** Reading the options of a bench. What is wrong is the user's mistake, and the message says what to write. */
import { STORE_NAMES, storeName, type StoreName } from "./store/bench-store.ts";

export function wholeNumber(option: string, text: string, min = 1, max = 1_000_000): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isInteger(value) && value >= min && value <= max) return value;
  const [from, to] = [min.toLocaleString("en-US"), max.toLocaleString("en-US")];
  throw badOption(`--${option} ${text}: give a whole number from ${from} to ${to}`);
}

export function positiveNumber(option: string, text: string, max: number): number {
  const value = Number(text);
  if (value > 0 && value <= max) return value;
  throw badOption(`--${option} ${text}: give a number above 0, at most ${max}`);
}

export function storeOption(text: string): StoreName {
  const name = storeName(text);
  if (name !== undefined) return name;
  throw badOption(`--store ${text}: there are ${STORE_NAMES.join(", ")}`);
}

/** As `parseArgs` of Node throws them, which the command tells apart from failures. */
export function badOption(message: string): Error {
  return Object.assign(new Error(message), { code: "ERR_PARSE_ARGS_VALUE" });
}
