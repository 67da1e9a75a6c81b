// Names that code in some folders may not mention, each with what to use instead.
// Time, randomness and I/O are injected: that is what lets the simulator run the very same code.

import { isCode, isTest, lineAt, maskProse, type Finding, type SourceFile } from "./source.ts";

interface Ban {
  readonly where: (path: string) => boolean;
  readonly name: string;
  readonly instead: string;
}

const inKernel = (path: string): boolean => path.startsWith("packages/kernel/src/");
const inRuntime = (path: string): boolean =>
  path.startsWith("packages/runtime/src/") && path !== "packages/runtime/src/clock/system.ts";
const timers = ["setTimeout", "setInterval", "setImmediate"];

const bans: readonly Ban[] = [
  ...["Date", "performance"].map((name) => ({ where: inKernel, name, instead: "take `now` as an argument" })),
  ...[...timers, "queueMicrotask"].map((name) => ({
    where: inKernel,
    name,
    instead: "return `wakeAt`; a driver waits",
  })),
  { where: inKernel, name: "Math.random", instead: "take a random source as an argument" },
  { where: inKernel, name: "process", instead: "take what you need as an argument" },
  { where: inKernel, name: "console", instead: "return an action; a driver logs" },
  ...["Date", "performance", ...timers].map((name) => ({
    where: inRuntime,
    name,
    instead: "use the injected clock (the real one lives in packages/runtime/src/clock/system.ts)",
  })),
  { where: inRuntime, name: "Math.random", instead: "use the injected random source" },
];

export function checkBannedWords(file: SourceFile): Finding[] {
  if (!isCode(file.path) || isTest(file.path)) return [];
  const relevant = bans.filter((ban) => ban.where(file.path));
  if (relevant.length === 0) return [];
  const masked = maskProse(file.text);
  return relevant.flatMap(({ name, instead }) =>
    Array.from(masked.matchAll(mentions(name)), (match) => ({
      path: file.path,
      line: lineAt(masked, match.index),
      message: `${name} is not for this folder: ${instead}`,
    })),
  );
}

/** The global of that name: not a property of something else, and not the key of an object or a parameter's name. */
function mentions(name: string): RegExp {
  const words = name.split(".").join(String.raw`\s*\.\s*`);
  return new RegExp(String.raw`(?:(?<![\w$.])|(?<=\bglobalThis\s*\.\s*))${words}(?![\w$]|\??\s*:)`, "g");
}
