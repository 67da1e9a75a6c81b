/**
 * Sends finished spans to an OpenTelemetry collector as OTLP over HTTP in JSON. It is small on purpose: batches, one request at a time, and a queue
 * that drops when the collector is away, because tracing must never slow down or fill up what it watches.
 */
import type { Clock, Timer } from "@keelson/kernel";
import type { FinishedSpan, SpanSink } from "./tracer.ts";

export interface OtlpOptions {
  /** The collector's address, e.g. http://127.0.0.1:4318; `/v1/traces` is added unless it is there. */
  readonly url: string;
  readonly clock: Clock;
  /** What the spans' process is called: `keelson-gateway`. */
  readonly process: string;
  readonly attributes?: Readonly<Record<string, string>>;
  /** Sends a request; the platform's fetch when left out. */
  readonly send?: (url: string, body: string, signal: AbortSignal) => Promise<{ readonly ok: boolean }>;
}

const QUEUE_SPANS_MAX = 4_096;
const BATCH_SPANS_MAX = 512;
const EVERY_MS = 1_000;
const TIMEOUT_MS = 5_000;
const KINDS = { internal: 1, server: 2, client: 3 } as const;

export class OtlpExporter implements SpanSink {
  readonly counts = { sent: 0, dropped: 0, failures: 0 };
  readonly #options: OtlpOptions;
  readonly #url: string;
  #queue: FinishedSpan[] = [];
  #timer: Timer | undefined;
  #sending: Promise<void> | undefined;
  #closed = false;

  constructor(options: OtlpOptions) {
    this.#options = options;
    this.#url = options.url.endsWith("/v1/traces")
      ? options.url
      : `${options.url.replace(/\/+$/, "")}/v1/traces`;
  }

  ended(span: FinishedSpan): void {
    if (this.#queue.length >= QUEUE_SPANS_MAX || this.#closed) {
      this.counts.dropped += 1;
      return;
    }
    this.#queue.push(span);
    this.#timer ??= this.#options.clock.after(EVERY_MS, () => {
      this.#timer = undefined;
      void this.flush();
    });
  }

  /** Sends what waits. Never rejects: what cannot be sent is counted and dropped. */
  async flush(): Promise<void> {
    while (this.#sending !== undefined) await this.#sending;
    while (this.#queue.length > 0) {
      this.#sending = this.#send(this.#queue.splice(0, BATCH_SPANS_MAX));
      await this.#sending;
      this.#sending = undefined;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.flush();
  }

  async #send(batch: readonly FinishedSpan[]): Promise<void> {
    const { clock, send = sendWithFetch } = this.#options;
    const abort = new AbortController();
    const timer = clock.after(TIMEOUT_MS, () => abort.abort());
    try {
      const { ok } = await send(this.#url, JSON.stringify(this.#request(batch)), abort.signal);
      if (ok) this.counts.sent += batch.length;
      else this.#failed(batch);
    } catch {
      // Whatever it was, the collector did not get them. The count is shown in the metrics.
      this.#failed(batch);
    } finally {
      timer.cancel();
    }
  }

  #failed(batch: readonly FinishedSpan[]): void {
    this.counts.failures += 1;
    this.counts.dropped += batch.length;
  }

  #request(batch: readonly FinishedSpan[]): unknown {
    const { process, attributes = {} } = this.#options;
    return {
      resourceSpans: [
        {
          resource: { attributes: asAttributes({ "service.name": process, ...attributes }) },
          scopeSpans: [{ scope: { name: "keelson" }, spans: batch.map(asOtlp) }],
        },
      ],
    };
  }
}

async function sendWithFetch(url: string, body: string, signal: AbortSignal): Promise<{ ok: boolean }> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", body, signal, headers });
  await answer.body?.cancel();
  return answer;
}

function asOtlp(span: FinishedSpan): unknown {
  const { traceId, spanId, parentSpanId, name, kind, startedAt, endedAt, attributes, failure } = span;
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(startedAt),
    endTimeUnixNano: nanoseconds(endedAt),
    attributes: asAttributes(attributes),
    status: failure === undefined ? {} : { code: 2, message: failure },
  };
}

/** Too large for a number: text, as the protocol's JSON has it. */
function nanoseconds(ms: number): string {
  const whole = Math.floor(ms);
  return `${BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1_000_000))}`;
}

function asAttributes(attributes: Readonly<Record<string, string | number | boolean>>): unknown[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: asValue(value) }));
}

function asValue(value: string | number | boolean): unknown {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
