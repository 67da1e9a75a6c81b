/**
 * The traces of a repository on one node: one for each commit that comes, from its clone over its index to the first answer. The first began where the repository was added. Says nothing while
 * nobody traces.
 */
import type { Span, Tracer } from "@keelson/runtime";

export class CommitTrace {
  readonly #tracer: Tracer | undefined;
  readonly #name: string;
  /** Of what is served, until it was; at first of what is to be. */
  #open: Span | undefined;

  /** `parent`: what the first commit is part of. */
  constructor(tracer: Tracer | undefined, name: string, parent: string | undefined) {
    this.#tracer = tracer;
    this.#name = name;
    this.#open = tracer?.start("hold", "internal", parent).set("repository", name);
  }

  /** For the next commit. Until there is one to serve it is the first; after that each has its own, which is told only when it comes to something. */
  begin(isServing: boolean): Span | undefined {
    const first = isServing ? undefined : this.#open;
    return first ?? this.#tracer?.start("update", "internal", undefined);
  }

  /** What is served from now on came with this. A commit that nobody asked for before the next one came has no answer in its trace. */
  swapped(span: Span | undefined): void {
    if (span === this.#open) return;
    this.#open?.end();
    this.#open = span?.set("repository", this.#name);
  }

  /** The first is tried again, and goes on. */
  failed(span: Span | undefined, error: unknown): void {
    if (span !== this.#open) span?.set("repository", this.#name).end(String(error));
  }

  served(): void {
    if (!this.#open) return;
    this.#tracer?.start("serve", "internal", this.#open.traceparent).end();
    this.end();
  }

  end(failure?: string): void {
    this.#open?.end(failure);
    this.#open = undefined;
  }
}
