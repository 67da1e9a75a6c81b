/** Starts a thread of the engine, from built files or straight from source (tests, development), where it first has to learn to read TypeScript. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker, type WorkerOptions } from "node:worker_threads";
import { stepHelpersBack } from "./step-back.ts";
import { keepItWhen } from "./young-room.ts";

let first = true;

export function startThread(name: "search-thread" | "build-thread", data: unknown): Worker {
  // Before it: until a process starts threads of its own, V8's are the first.
  if (first) stepHelpersBack();
  first = false;
  const worker = start(name, data);
  keepItWhen(worker);
  return worker;
}

function start(name: string, data: unknown): Worker {
  const options: WorkerOptions = {
    workerData: data,
    name,
    // Threads keep little in their heaps; without limits these would grow to a share of the machine's memory before collecting.
    resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 6 },
  };
  if (!import.meta.url.endsWith(".ts")) return new Worker(new URL(`./${name}.js`, import.meta.url), options);
  const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx/esm/api")).href.replace(
    /\.cjs$/,
    ".mjs",
  );
  const source = new URL(`./${name}.ts`, import.meta.url).href;
  const code = `import(${JSON.stringify(loader)}).then((tsx) => { tsx.register(); return import(${JSON.stringify(source)}); });`;
  return new Worker(code, { ...options, eval: true });
}
