import { formatEpoch, type Epoch } from "@keelson/kernel";
import type { SimEvent } from "./events.ts";

/**
 * What happened, one line each, and a hash over all of it. A line is
 *
 *     seconds     who      what         subject      detail
 *      83.456789  n3       live         kv/17/0      5.370 granted: its holder n2 was lost
 *
 * with columns that a reader can `grep` and `sort`: true time in seconds; the process, `store`, `objects`, `fault` or `check`; one word; the replica, key or fault it is about; the rest.
 * Requests get a line only with `--trace`, but always count in the hash: two runs with the same hash did the same things at the same instants.
 */
export class Trace {
  readonly #now: () => number;
  readonly #print: ((line: string) => void) | undefined;
  /** The last lines, in a ring. They are formatted when somebody reads them. */
  readonly #recent: Line[] = [];
  #lines = 0;
  #low = 0x811c9dc5;
  #high = 0x9e3779b9;

  /** How many lines are kept to show what led to a violation. */
  static readonly recentMax = 60;

  constructor(now: () => number, print?: (line: string) => void) {
    this.#now = now;
    this.#print = print;
  }

  /** 16 hexadecimal digits. */
  get hash(): string {
    return (this.#high >>> 0).toString(16).padStart(8, "0") + (this.#low >>> 0).toString(16).padStart(8, "0");
  }

  /** The last lines, oldest first. */
  get recent(): readonly string[] {
    const oldest = this.#lines % Trace.recentMax;
    return [...this.#recent.slice(oldest), ...this.#recent.slice(0, oldest)].map(format);
  }

  event(event: SimEvent): void {
    switch (event.kind) {
      case "decision": {
        const { decision, node } = event;
        const epoch = decision.epoch ? `${formatEpoch(decision.epoch)} ` : "";
        return this.line(node, decision.kind, decision.replica ?? "-", `${epoch}${decision.reason}`);
      }
      case "activated":
      case "promoted":
        return this.line(event.node, event.kind, event.replica, formatEpoch(event.epoch));
      case "admitted":
        return this.#request(event.node, `admit-${event.mode}`, event.replica, event.epoch, 0);
      case "answered":
        return this.#request(event.client, `ok-${event.mode}`, event.replica, event.epoch, event.value);
      case "request-failed":
        return this.line(event.client, "failed", event.shard, `${event.mode}: ${event.reason}`);
      case "raised":
        return this.line("objects", "raised", event.resource, formatEpoch(event.epoch));
      case "wrote":
        return this.#request("objects", "wrote", event.resource, event.epoch, event.value);
      case "fault":
        return this.line(
          "fault",
          event.edge,
          `${event.fault.kind}#${event.fault.id}`,
          `${event.fault.node ?? "store"} ${event.fault.detail}`,
        );
      case "node":
        return this.line(event.node, event.how, "-", "");
      case "store-changed":
        for (const change of event.batch.changes) {
          const key = change.kind === "put" ? change.entry.key : change.key;
          this.#request("store", change.kind, key, undefined, event.batch.revision);
        }
        return;
      case "foreign-commit":
        return this.line("store", "foreign", event.sender, `${event.madeFor} in ${event.carriedOutBy}`);
      case "late-renewal":
        return this.line("store", "late-renewal", event.node, "");
      case "store-down":
        return this.line("store", "down", "-", "");
      case "store-recovered":
        return this.line("store", "recovered", "-", event.recovery.kind);
      case "memory":
        return this.line(
          event.node,
          event.what,
          event.replica,
          `${event.usedBytes} of ${event.budgetBytes} bytes`,
        );
      case "settled":
        return this.line("check", "settled", "-", "");
      case "finished":
      case "commit-sent":
      case "regained":
      case "second":
        return;
    }
  }

  /** A line that is kept, printed with `--trace`, and hashed. */
  line(who: string, what: string, subject: string, detail: string): void {
    const line: Line = { atMs: this.#now(), who, what, subject, detail };
    this.#recent[this.#lines++ % Trace.recentMax] = line;
    this.#print?.(format(line));
    this.#foldNumber(line.atMs);
    this.#fold(who);
    this.#fold(what);
    this.#fold(subject);
    this.#fold(detail);
  }

  /** One of the many: formatted only when someone reads it. */
  #request(who: string, what: string, subject: string, epoch: Epoch | undefined, value: number): void {
    const atMs = this.#now();
    if (this.#print) {
      const detail = `${epoch ? `${formatEpoch(epoch)} ` : ""}${value}`;
      this.#print(format({ atMs, who, what, subject, detail }));
    }
    this.#foldNumber(atMs);
    this.#fold(subject);
    if (epoch) this.#foldNumber(epoch.revision);
    this.#foldNumber(value);
  }

  #fold(text: string): void {
    let low = this.#low;
    let high = this.#high;
    for (let i = 0; i < text.length; i++) {
      low = Math.imul(low ^ text.charCodeAt(i), 0x01000193);
      high = Math.imul(high ^ (low >>> 7), 0x85ebca6b);
    }
    this.#low = low;
    this.#high = high;
  }

  #foldNumber(value: number): void {
    float[0] = value;
    this.#low = Math.imul(this.#low ^ (words[0] as number), 0x01000193);
    this.#high = Math.imul(this.#high ^ (words[1] as number) ^ (this.#low >>> 7), 0x85ebca6b);
  }
}

interface Line {
  readonly atMs: number;
  readonly who: string;
  readonly what: string;
  readonly subject: string;
  readonly detail: string;
}

function format({ atMs, who, what, subject, detail }: Line): string {
  const seconds = (atMs / 1000).toFixed(6).padStart(13);
  return `${seconds}  ${who.padEnd(8)} ${what.padEnd(12)} ${subject.padEnd(12)} ${detail}`.trimEnd();
}

const float = new Float64Array(1);
const words = new Uint32Array(float.buffer);
