/** Which metrics a PromQL expression asks for, and which of them nobody exports. */
import { GATEWAY_METRICS } from "@keelson/gateway";
import { NODE_METRICS, type MetricDeclarations } from "@keelson/runtime";
import { SERVICES } from "keelson";

/** Words of the language that our expressions use; any other word that is no label must be a metric. */
const WORDS = new Set(
  "sum count max min avg by without on ignoring or and unless vector rate increase histogram_quantile offset bool scalar".split(
    " ",
  ),
);

/** Every series that is exported, by the name that Prometheus gives it. */
export async function exportedSeries(): Promise<Set<string>> {
  const plugins = await Promise.all(SERVICES.map(({ load }) => load()));
  const all: MetricDeclarations[] = [
    NODE_METRICS,
    GATEWAY_METRICS,
    ...plugins.map(({ metrics = {} }) => metrics),
  ];
  const names = all.flatMap((metrics) =>
    Object.entries(metrics).flatMap(([name, { kind }]) =>
      kind === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  return new Set(names);
}

export function metricsIn(expr: string): string[] {
  const bare = expr
    .replaceAll(/"[^"]*"/g, "")
    .replaceAll(/\{[^}]*\}/g, " ")
    .replaceAll(/\[[^\]]*\]/g, " ")
    .replaceAll(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, " ");
  return (bare.match(/[a-zA-Z_:][a-zA-Z0-9_:]*/g) ?? []).filter((word) => !WORDS.has(word));
}
