import type { Clock, Random } from "@keelson/kernel";
import { formatTraceParent, parseTraceParent, type TraceParent } from "./traceparent.ts";

/** A finished piece of work of a trace, as OpenTelemetry counts it. */
export interface FinishedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** Why it failed; undefined when it did not. */
  readonly failure: string | undefined;
}

export type SpanKind = "server" | "client" | "internal";

export interface SpanSink {
  ended(span: FinishedSpan): void;
}

export interface TracerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly sink: SpanSink;
  /** The share of traces that begin here and are kept, 0 to 1. One that begins elsewhere is kept when its caller keeps it. */
  readonly sampleRatio: number;
}

/** Begins spans. Those of traces that are not kept cost an object, and pass the trace on. */
export class Tracer {
  readonly #options: TracerOptions;

  constructor(options: TracerOptions) {
    this.#options = options;
  }

  /** `parent` is a traceparent as it came; one that cannot be read begins a trace. */
  start(name: string, kind: SpanKind, parent: string | undefined): Span {
    const from = parseTraceParent(parent);
    const { random, sampleRatio } = this.#options;
    const self: TraceParent = {
      traceId: from?.traceId ?? hex(random, 4),
      spanId: hex(random, 2),
      sampled: from?.sampled ?? random() < sampleRatio,
    };
    return new Span(self, from?.spanId, name, kind, this.#options);
  }
}

export class Span {
  readonly #self: TraceParent;
  readonly #parentSpanId: string | undefined;
  readonly #name: string;
  readonly #kind: SpanKind;
  readonly #options: TracerOptions;
  readonly #startedAt: number;
  readonly #begin: number;
  #attributes: Record<string, string | number | boolean> | undefined;
  #ended = false;

  constructor(
    self: TraceParent,
    parentSpanId: string | undefined,
    name: string,
    kind: SpanKind,
    options: TracerOptions,
  ) {
    this.#self = self;
    this.#parentSpanId = parentSpanId;
    this.#name = name;
    this.#kind = kind;
    this.#options = options;
    this.#startedAt = options.clock.wall();
    this.#begin = options.clock.now();
  }

  /** To send on with what this span asks of others. */
  get traceparent(): string {
    return formatTraceParent(this.#self);
  }

  get traceId(): string {
    return this.#self.traceId;
  }

  set(name: string, value: string | number | boolean): this {
    if (this.#self.sampled) (this.#attributes ??= {})[name] = value;
    return this;
  }

  /** Once; later calls are ignored. */
  end(failure?: string): void {
    if (this.#ended) return;
    this.#ended = true;
    if (!this.#self.sampled) return;
    const { clock, sink } = this.#options;
    const { traceId, spanId } = this.#self;
    sink.ended({
      traceId,
      spanId,
      parentSpanId: this.#parentSpanId,
      name: this.#name,
      kind: this.#kind,
      startedAt: this.#startedAt,
      endedAt: this.#startedAt + (clock.now() - this.#begin),
      attributes: this.#attributes ?? {},
      failure,
    });
  }
}

/** Random hex digits, eight per word; never all zeros. */
function hex(random: Random, words: number): string {
  let text = "";
  for (let i = 0; i < words; i++)
    text += Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
  return /^0*$/.test(text) ? `${text.slice(1)}1` : text;
}
