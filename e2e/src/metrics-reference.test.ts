/**
 * docs/reference/metrics.md is written from the declarations. After a change, write it again with
 * `npm run unit -- e2e/src/metrics-reference -u`.
 */
import { GATEWAY_ALERTS, GATEWAY_METRICS } from "@keelson/gateway";
import { NODE_ALERTS, NODE_METRICS, type AlertRule, type MetricDeclarations } from "@keelson/runtime";
import { SERVICES } from "keelson";
import { expect, test } from "vitest";

function table(metrics: MetricDeclarations): string {
  const rows = Object.entries(metrics).map(([name, { kind, help, labels = [] }]) => {
    const names = labels.map((label) => `\`${label}\``).join(", ");
    return `| \`${name}\` | ${kind} | ${names} | ${help.replaceAll("|", "\\|")} |`;
  });
  return ["| metric | kind | labels | meaning |", "|---|---|---|---|", ...rows].join("\n");
}

function alertTable(alerts: readonly AlertRule[]): string {
  const rows = alerts.map(
    ({ name, severity, for: holds, summary }) => `| \`${name}\` | ${severity} | ${holds} | ${summary} |`,
  );
  return ["| alert | severity | after | meaning |", "|---|---|---|---|", ...rows].join("\n");
}

const HEAD = `# Metrics

What is exported for Prometheus. A gateway gives its own at \`/metrics\`, and those of each node and its services at \`/metrics/nodes/{node}\`. This page is
written from the code, and a test keeps the two equal.`;

test("metrics.md lists every metric and every alert, and no others", async () => {
  const plugins = await Promise.all(SERVICES.map(({ load }) => load()));
  const parts = [
    HEAD,
    `## Of every node\n\n${table(NODE_METRICS)}`,
    alertTable(NODE_ALERTS),
    `## Of a gateway\n\n${table(GATEWAY_METRICS)}`,
    alertTable(GATEWAY_ALERTS),
    ...plugins.flatMap(({ name, metrics = {}, alerts = [] }) => [
      `## Of \`${name}\`\n\n${table(metrics)}`,
      ...(alerts.length > 0 ? [alertTable(alerts)] : []),
    ]),
  ];
  await expect(`${parts.join("\n\n")}\n`).toMatchFileSnapshot("../../docs/reference/metrics.md");
});
