import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import { SystemClock } from "../clock/system.ts";
import { OtlpExporter } from "./otlp-exporter.ts";
import { Tracer, type FinishedSpan } from "./tracer.ts";
import { formatTraceParent, parseTraceParent } from "./traceparent.ts";

const sample = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

function tracer(sampleRatio: number): { tracer: Tracer; clock: ManualClock; spans: FinishedSpan[] } {
  const spans: FinishedSpan[] = [];
  const clock = new ManualClock();
  const sink = { ended: (span: FinishedSpan) => void spans.push(span) };
  return { tracer: new Tracer({ clock, random: Math.random, sampleRatio, sink }), clock, spans };
}

test("a traceparent is read and written as the standard has it", () => {
  expect(formatTraceParent(parseTraceParent(sample)!)).toBe(sample);
  expect(parseTraceParent(`01${sample.slice(2)}-later`)?.sampled).toBe(true);
});

test.each([
  "",
  "nonsense",
  `${sample}-more`,
  `ff${sample.slice(2)}`,
  sample.toUpperCase(),
  `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
  `00-0af7651916cd43dd8448eb211c80319c-${"0".repeat(16)}-01`,
  "x".repeat(100_000),
])("%j is no traceparent", (text) => {
  expect(parseTraceParent(text)).toBeUndefined();
});

test("a span belongs to its parent's trace, and is kept when the parent is", async () => {
  const { tracer: tracing, clock, spans } = tracer(0);
  const span = tracing.start("asks", "server", sample).set("shard", "7");
  expect(parseTraceParent(span.traceparent)).toMatchObject({
    traceId: "0af7651916cd43dd8448eb211c80319c",
    sampled: true,
  });
  await clock.advance(12);
  span.end();
  span.end();
  expect(spans).toHaveLength(1);
  expect(spans[0]).toMatchObject({ parentSpanId: "b7ad6b7169203331", attributes: { shard: "7" } });
  expect(spans[0]!.endedAt - spans[0]!.startedAt).toBe(12);
  tracing.start("asks", "server", `${sample.slice(0, -1)}0`).end();
  tracing.start("begins", "server", undefined).end();
  expect(spans).toHaveLength(1);
});

test("spans reach a collector in batches", async () => {
  const bodies: string[] = [];
  const collector = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      bodies.push(`${request.url} ${body}`);
      response.end("{}");
    });
  });
  await new Promise<void>((resolve) => {
    collector.listen(0, "127.0.0.1", resolve);
  });
  const { port } = collector.address() as AddressInfo;
  const clock = new SystemClock();
  const exporter = new OtlpExporter({ url: `http://127.0.0.1:${port}`, clock, process: "keelson-test" });
  const tracing = new Tracer({ clock, random: Math.random, sampleRatio: 1, sink: exporter });
  for (let i = 0; i < 600; i++)
    tracing.start(`span ${i}`, "internal", sample).end(i === 0 ? "broke" : undefined);
  await exporter.close();
  collector.close();
  collector.closeAllConnections();
  expect(exporter.counts).toEqual({ sent: 600, dropped: 0, failures: 0 });
  expect(bodies).toHaveLength(2);
  expect(bodies[0]).toMatch(/^\/v1\/traces \{"resourceSpans"/);
  expect(bodies[0]).toContain('"stringValue":"keelson-test"');
  expect(bodies[0]).toContain('"status":{"code":2,"message":"broke"}');
});

test("a collector that is away costs spans, counted, and nothing else", async () => {
  const exporter = new OtlpExporter({
    url: "http://127.0.0.1:1/v1/traces",
    clock: new SystemClock(),
    process: "keelson-test",
  });
  const clock = new ManualClock();
  const tracing = new Tracer({ clock, random: Math.random, sampleRatio: 1, sink: exporter });
  for (let i = 0; i < 5_000; i++) tracing.start("span", "internal", undefined).end();
  await exporter.close();
  expect(exporter.counts.dropped).toBe(5_000);
});
