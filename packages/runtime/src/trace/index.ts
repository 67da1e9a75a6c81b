/** Traces across gateway and nodes: W3C traceparent in, OTLP over HTTP out. */
export * from "./otlp-exporter.ts";
export * from "./tracer.ts";
export * from "./traceparent.ts";
