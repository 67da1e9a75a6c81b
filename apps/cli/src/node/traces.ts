/** The traces of a node's process, sent where `--otlp` says. Whether a request is traced, its gateway has decided: a node follows. */
import type { Clock, Random } from "@keelson/kernel";
import { OtlpExporter, Tracer } from "@keelson/runtime";

export interface Traces {
  readonly tracer: Tracer;
  /** Sends what waits. */
  close(): Promise<void>;
}

export function openTraces(
  url: string | undefined,
  about: { readonly node: string; readonly clock: Clock; readonly random: Random },
): Traces | undefined {
  if (url === undefined) return undefined;
  const { node, clock, random } = about;
  const sink = new OtlpExporter({
    url,
    clock,
    process: "keelson-node",
    attributes: { "keelson.node": node },
  });
  return { tracer: new Tracer({ clock, random, sink, sampleRatio: 1 }), close: () => sink.close() };
}
