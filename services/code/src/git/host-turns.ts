/**
 * Who may ask which server at the same time. A server that takes connections and says nothing keeps those waiting who ask it, and nobody else: every host has its own turns, and
 * building indexes has others.
 */
import { Limiter } from "../limiter.ts";

/** Of one server at once. Waiting for it costs nothing, so there are more than builds. */
const perHostMax = 4;
/** Folders are read by processors, not over a network. */
const foldersMax = 2;
/** Of all together: each is a process. */
const allMax = 32;

export class HostTurns {
  readonly #all = new Limiter(allMax);
  readonly #hosts = new Map<string, Limiter>();

  /** For a question that needs no process. */
  async ask<T>(host: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#turn(host, work, signal);
  }

  /** For git. `host` is empty for folders. Who waits and is no longer wanted leaves at once. */
  async run<T>(host: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#turn(host, () => this.#all.run(work, signal), signal);
  }

  async #turn<T>(host: string, work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    let limiter = this.#hosts.get(host);
    if (!limiter) this.#hosts.set(host, (limiter = new Limiter(host === "" ? foldersMax : perHostMax)));
    try {
      return await limiter.run(work, signal);
    } finally {
      if (limiter.running === 0 && this.#hosts.get(host) === limiter) this.#hosts.delete(host);
    }
  }
}
