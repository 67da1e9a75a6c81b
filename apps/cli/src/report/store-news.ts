/**
 * Tells people how it is with the store: that it does not answer, why, for how long, and that it is back. A wrong address, a wrong password and a server that is down all look
 * like silence to a node, which goes on trying; only the reason tells them apart, so it is said, and said again when it changes. It decides nothing.
 */
import { redact } from "@keelson/runtime";
import { formatDuration } from "../config/duration.ts";

/** A start that takes longer than this is worth a word. */
const PATIENCE_MS = 2_000;
/** Silence that goes on is told again after this long, and then after twice as long each time. */
const AGAIN_FIRST_MS = 10_000;
const AGAIN_MS_MAX = 60_000;
/** Reasons that are told as soon as they are new. */
const REASONS_MAX = 8;

interface StoreNewsOptions {
  /** The copy of the store: whether it is kept up to date, and if not, why. */
  readonly mirror: { readonly live: boolean; readonly trouble: string | undefined };
  readonly say: (line: string) => void;
  /** What it means that the store was there, and is away. */
  readonly meanwhile: string;
  readonly now?: () => number;
}

export class StoreNews {
  readonly #options: StoreNewsOptions;
  readonly #now: () => number;
  #met = false;
  #silentSince: number | undefined;
  /** The reasons that were given for the present silence, when one was last given, and after how long one is given again. */
  #told: { readonly reasons: Set<string>; at: number; againMs: number } | undefined;

  constructor(options: StoreNewsOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#silentSince = this.#now();
  }

  /** For how long the store has been silent; 0 while it answers. */
  get silentMs(): number {
    return this.#silentSince === undefined ? 0 : this.#now() - this.#silentSince;
  }

  /** To be called now and then. */
  look(): void {
    const { mirror, say } = this.#options;
    if (mirror.live) {
      if (this.#told) say("the store answers");
      this.#met = true;
      this.#silentSince = this.#told = undefined;
      return;
    }
    this.#silentSince ??= this.#now();
    const { silentMs } = this;
    if (!this.#told) {
      if (!this.#met && silentMs < PATIENCE_MS) return;
      this.#told = { reasons: new Set(), at: silentMs, againMs: AGAIN_FIRST_MS / 2 };
      this.#tell(this.#met ? this.#away() : this.#waiting());
    } else if (this.#isNews() || silentMs - this.#told.at >= this.#told.againMs)
      this.#tell(
        `the store has not answered for ${formatDuration(Math.floor(silentMs / 1_000) * 1_000)}${this.#because()}`,
      );
  }

  /** Two reasons may take turns: each is news once. */
  #isNews(): boolean {
    const reasons = this.#told?.reasons;
    return reasons !== undefined && reasons.size < REASONS_MAX && !reasons.has(this.#essence());
  }

  #tell(line: string): void {
    this.#options.say(redact(line));
    const told = this.#told!;
    told.reasons.add(this.#essence());
    told.at = this.silentMs;
    told.againMs = Math.min(2 * told.againMs, AGAIN_MS_MAX);
  }

  /** Reasons may count milliseconds and tries; those that differ in nothing else are the same. */
  #essence(): string {
    return (this.#options.mirror.trouble ?? "").replaceAll(/ \(next try in \d+ ms\)|\d+/g, "");
  }

  #waiting(): string {
    return `the store does not answer yet${this.#because()}; it is tried again until it does`;
  }

  #away(): string {
    const { mirror, meanwhile } = this.#options;
    const why = mirror.trouble === undefined ? "" : ` (${mirror.trouble})`;
    return `the store does not answer${why}: ${meanwhile}`;
  }

  #because(): string {
    const { trouble } = this.#options.mirror;
    return trouble === undefined ? "" : `: ${trouble}`;
  }
}
