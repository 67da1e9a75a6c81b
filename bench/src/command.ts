import type { Bench, BenchResult } from "./bench.ts";
import { table } from "./table.ts";

/** Where the command writes: what people and pipes read, and what happens meanwhile. */
export interface BenchOutput {
  out(text: string): void;
  progress(text: string): void;
  /** Keeps the result for machines; returns where. */
  save(name: string, result: { readonly name: string } & BenchResult): Promise<string>;
}

/** `bench` alone lists the benches, `bench <name> [options]` runs one. Returns the exit code: 3 when a promise was broken. */
export async function benchCommand(
  benches: readonly Bench[],
  argv: readonly string[],
  output: BenchOutput,
): Promise<number> {
  const [name, ...args] = argv;
  if (name === undefined || name === "--help" || name === "-h") {
    output.out(`Run one with: npm run bench -- <name> [options]\n\n${list(benches)}\n`);
    return 0;
  }
  const bench = benches.find((each) => each.name === name);
  if (!bench) {
    output.progress(`bench: there is no bench ${JSON.stringify(name)}; there are:\n${list(benches)}`);
    return 2;
  }
  let result: BenchResult;
  try {
    result = await bench.run({ args, progress: (text) => output.progress(`${name}: ${text}`) });
  } catch (error) {
    if (!isBadOption(error)) throw error;
    output.progress(`bench: ${name}: ${error.message}`);
    return 2;
  }
  output.out(`${bench.title}\n\n${table(result)}\n`);
  const { figures, peers, broken = [] } = result;
  output.progress(`${name}: written to ${await output.save(name, { name, figures, peers })}`);
  for (const promise of broken) output.progress(`bench: ${name}: broken: ${promise}`);
  return broken.length > 0 ? 3 : 0;
}

function list(benches: readonly Bench[]): string {
  const width = Math.max(...benches.map((bench) => bench.name.length));
  return benches.map((bench) => `  ${bench.name.padEnd(width)}  ${bench.title}`).join("\n");
}

/** What `parseArgs` of Node throws when the user gave an option that a bench does not have. */
function isBadOption(error: unknown): error is Error {
  return error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS_");
}
