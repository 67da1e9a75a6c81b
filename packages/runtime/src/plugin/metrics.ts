/**
 * Metrics as a plug-in declares them, and the set of them that a process keeps. Names are exported as declared; a test keeps
 * docs/reference/metrics.md equal to the declarations. It is a thin cover over prom-client so that what was not declared cannot be counted.
 */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { KeelsonError } from "../errors.ts";

export interface MetricDeclaration {
  readonly kind: "counter" | "gauge" | "histogram";
  /** One sentence. */
  readonly help: string;
  readonly labels?: readonly string[];
  /** Upper bounds of a histogram's buckets, in the unit that the name ends with. */
  readonly buckets?: readonly number[];
}

/** By name, as exported. */
export type MetricDeclarations = Readonly<Record<string, MetricDeclaration>>;

export type Labels = Readonly<Record<string, string | number>>;

export class MetricSet {
  readonly registry: Registry;
  readonly #metrics = new Map<string, Counter | Gauge | Histogram>();

  /** Several sets may share a registry; a name may be declared once in each registry. */
  constructor(declarations: MetricDeclarations, registry = new Registry()) {
    this.registry = registry;
    for (const [name, declaration] of Object.entries(declarations))
      this.#metrics.set(name, make(name, declaration, registry));
  }

  /** Adds to a counter. */
  count(name: string, labels: Labels = {}, by = 1): void {
    this.#get(name, Counter).inc(labels, by);
  }

  /** Sets a gauge. */
  set(name: string, value: number, labels: Labels = {}): void {
    this.#get(name, Gauge).set(labels, value);
  }

  /** Adds one observation to a histogram. */
  observe(name: string, value: number, labels: Labels = {}): void {
    this.#get(name, Histogram).observe(labels, value);
  }

  /** The same as `count` with these labels, for hot paths: the labels are looked up once. */
  counter(name: string, labels: Labels): (by?: number) => void {
    const child = this.#get(name, Counter).labels(labels);
    return (by = 1) => child.inc(by);
  }

  /** The same as `observe` with these labels, for hot paths. */
  observer(name: string, labels: Labels): (value: number) => void {
    const child = this.#get(name, Histogram).labels(labels);
    return (value) => child.observe(value);
  }

  /** Sets the gauge from `read` whenever the metrics are collected. */
  gaugeFrom(name: string, read: () => number): void {
    const gauge = this.#get(name, Gauge) as Gauge & { collect: () => void };
    gauge.collect = () => gauge.set(read());
  }

  /** The same for a gauge with labels: what is not read is no longer shown. */
  gaugesFrom(name: string, read: () => Iterable<{ readonly labels: Labels; readonly value: number }>): void {
    const gauge = this.#get(name, Gauge) as Gauge & { collect: () => void };
    gauge.collect = () => {
      gauge.reset();
      for (const { labels, value } of read()) gauge.set(labels, value);
    };
  }

  /** Shows a count that is kept elsewhere and only ever rises. */
  counterFrom(name: string, read: () => number): void {
    const counter = this.#get(name, Counter) as Counter & { collect: () => void };
    counter.collect = () => {
      counter.reset();
      counter.inc(read());
    };
  }

  #get<T extends Counter | Gauge | Histogram>(name: string, kind: abstract new (...args: never[]) => T): T {
    const metric = this.#metrics.get(name);
    if (metric instanceof kind) return metric;
    throw new KeelsonError(
      "BAD_SERVICE",
      `there is no ${kind.name.toLowerCase()} ${name}: declare it in the plug-in`,
    );
  }
}

function make(
  name: string,
  { kind, help, labels = [], buckets }: MetricDeclaration,
  registry: Registry,
): Counter | Gauge | Histogram {
  const common = { name, help, labelNames: [...labels], registers: [registry] };
  switch (kind) {
    case "counter":
      return new Counter(common);
    case "gauge":
      return new Gauge(common);
    case "histogram":
      return new Histogram({ ...common, ...(buckets ? { buckets: [...buckets] } : {}) });
  }
}
