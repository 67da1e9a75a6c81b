/** The W3C `traceparent` header: which trace a request belongs to, which span it comes from, and whether the trace is kept. */
export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly sampled: boolean;
}

const FORMAT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** Undefined for text that is no traceparent: then a trace begins here. */
export function parseTraceParent(text: string | undefined): TraceParent | undefined {
  if (text === undefined || text.length > 512) return undefined;
  const [, version, traceId = "", spanId = "", flags = "00"] = FORMAT.exec(text) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && text.length !== 55)) return undefined;
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceParent({ traceId, spanId, sampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
}
