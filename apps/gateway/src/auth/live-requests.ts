/**
 * Requests under way, by the token they were let in with. When a token is revoked, changed or expires, they are ended: a stream would otherwise outlive
 * the right to read it for as long as its reader likes.
 */
import type { Clock, Principal, Timer } from "@keelson/runtime";

interface Live {
  readonly expiresAt: number | undefined;
  readonly end: () => void;
}

/** How late an expired token's streams may end. */
const EXPIRY_LOOK_MS = 1_000;

export class LiveRequests {
  readonly #clock: Clock;
  readonly #byToken = new Map<string, Set<Live>>();
  /** Those that end by themselves; while there are any, the clock is looked at. */
  readonly #expiring = new Set<Live>();
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `end` is called at most once, when the token is no longer good. Call what is returned when the request is over. */
  enter({ tokenId, expiresAt }: Principal, end: () => void): () => void {
    if (tokenId === undefined) return () => undefined;
    const live: Live = { expiresAt, end };
    let all = this.#byToken.get(tokenId);
    if (!all) this.#byToken.set(tokenId, (all = new Set()));
    all.add(live);
    if (expiresAt !== undefined) {
      this.#expiring.add(live);
      this.#timer ??= this.#clock.after(EXPIRY_LOOK_MS, () => this.#look());
    }
    return () => {
      this.#expiring.delete(live);
      const left = this.#byToken.get(tokenId);
      left?.delete(live);
      if (left?.size === 0) this.#byToken.delete(tokenId);
    };
  }

  /** The token was revoked or changed. */
  revoked(tokenId: string): void {
    const all = this.#byToken.get(tokenId);
    this.#byToken.delete(tokenId);
    for (const live of all ?? []) {
      this.#expiring.delete(live);
      live.end();
    }
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #look(): void {
    const wallMs = this.#clock.wall();
    for (const live of this.#expiring)
      if (live.expiresAt !== undefined && live.expiresAt <= wallMs) {
        this.#expiring.delete(live);
        live.end();
      }
    this.#timer = this.#expiring.size > 0 ? this.#clock.after(EXPIRY_LOOK_MS, () => this.#look()) : undefined;
  }
}
