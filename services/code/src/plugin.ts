/** The code service as one declaration: shards, HTTP, commands, metrics, alerts, console. */
import { definePlugin } from "@keelson/runtime";
import { add, auctions, remove, set, status, webhook } from "./api/catalogue-route.ts";
import { lines } from "./api/lines-route.ts";
import { list } from "./api/list-route.ts";
import { print } from "./api/print-route.ts";
import { search, stream } from "./api/search-route.ts";
import { codeVerbs } from "./api/verbs.ts";
import { CODE_ERRORS } from "./code-error.ts";
import { CodeNode } from "./code-node.ts";
import { openEngine } from "./engine/index.ts";
import { CODE_ALERTS, CODE_METRICS } from "./metrics.ts";
import { MemoryWatch } from "./memory-watch.ts";
import { openNativeHeap } from "./native-heap.ts";
import { matchText } from "./query/index.ts";
import { processTerms } from "./process-memory.ts";
import { codeSettings } from "./settings.ts";

export const codePlugin = definePlugin({
  name: "code",
  about: "code search: repositories indexed in memory, held by whoever bids the most room",
  config: codeSettings,
  needs: ["data"],
  service(context) {
    const tell = (why: string): void => context.log.warn({ why }, "freed memory may stay with the process");
    const heap = openNativeHeap(tell);
    const { config, clock } = context;
    const watch =
      heap &&
      new MemoryWatch({
        clock,
        memoryBytes: config.memory,
        rssBytes: () => process.memoryUsage.rss(),
        trim: () => heap.trim(),
        failed: tell,
      });
    const engine = openEngine(processTerms(config), { clock });
    const service = new CodeNode({ context, engine, matcher: matchText, tracer: context.tracer }).service();
    return {
      ...service,
      stop: async () => {
        watch?.stop();
        await service.stop?.();
      },
    };
  },
  http: { search, stream, lines, list, print, add, remove, set, status, auctions, webhook },
  verbs: codeVerbs,
  metrics: CODE_METRICS,
  alerts: CODE_ALERTS,
  errors: CODE_ERRORS,
  console: [
    {
      id: "search",
      title: "Search",
      about: "code in all repositories, as you type",
      reads: ["status"],
    },
    {
      id: "repositories",
      title: "Repositories",
      about: "who holds which repository, at which commit",
      reads: ["status"],
    },
  ],
});
