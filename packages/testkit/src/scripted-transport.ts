/**
 * A transport whose addresses answer as they were told to, in the time of the given clock. It shows what a router makes of answers; it carries
 * nothing anywhere.
 */
import {
  TransportError,
  type Clock,
  type NodeReply,
  type NodeRequest,
  type Transport,
  type TransportOptions,
} from "@keelson/kernel";

/** A reply or a failure after one millisecond, a reply after a time of its own, or none until the caller's timeout. */
export type ScriptedAnswer =
  | NodeReply
  | TransportError
  | { readonly afterMs: number; readonly reply: NodeReply }
  | "silence";

export interface SentRequest {
  readonly at: number;
  readonly address: string;
  readonly request: NodeRequest;
}

export class ScriptedTransport implements Transport {
  readonly sent: SentRequest[] = [];
  readonly #clock: Clock;
  readonly #answers = new Map<string, ScriptedAnswer[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What the address answers, one after another; the last one for ever. An address that was told nothing cannot be reached. */
  says(address: string, ...answers: ScriptedAnswer[]): void {
    this.#answers.set(address, answers);
  }

  call(address: string, request: NodeRequest, { timeoutMs }: TransportOptions): Promise<NodeReply> {
    this.sent.push({ at: this.#clock.now(), address, request });
    const answer = this.#next(address);
    return new Promise((resolve, reject) => {
      const late = (): void => reject(new TransportError("TIMEOUT", `nothing within ${timeoutMs} ms`));
      if (answer === "silence") this.#clock.after(timeoutMs, late);
      else if (answer instanceof TransportError) this.#clock.after(1, () => reject(answer));
      else if ("afterMs" in answer) this.#clock.after(answer.afterMs, () => resolve(answer.reply));
      else this.#clock.after(1, () => resolve(answer));
    });
  }

  #next(address: string): ScriptedAnswer {
    const answers = this.#answers.get(address) ?? [];
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    return answer ?? new TransportError("UNREACHABLE", `${address}: nobody listens`);
  }
}
