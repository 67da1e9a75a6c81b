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
  /** What was said of the present silence, and when it is told again. */
  #told: { readonly why: string; readonly at: number; readonly againMs: number } | undefined;

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
      this.#tell(this.#met ? this.#away() : this.#waiting(), AGAIN_FIRST_MS);
    } else if (
      essence(mirror.trouble) !== essence(this.#told.why) ||
      silentMs - this.#told.at >= this.#told.againMs
    )
      this.#tell(
        `the store has not answered for ${formatDuration(Math.floor(silentMs / 1_000) * 1_000)}${this.#because()}`,
        Math.min(2 * this.#told.againMs, AGAIN_MS_MAX),
      );
  }

  #tell(line: string, againMs: number): void {
    this.#options.say(redact(line));
    this.#told = { why: this.#options.mirror.trouble ?? "", at: this.silentMs, againMs };
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

/** Reasons may count milliseconds and tries; those that differ in nothing else are the same. */
function essence(why: string | undefined): string {
  return (why ?? "").replaceAll(/\d+/g, "");
}
