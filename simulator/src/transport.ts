import {
  TransportError,
  type NodeReply,
  type NodeRequest,
  type Timer,
  type Transport,
  type TransportErrorCode,
  type TransportOptions,
} from "@keelson/kernel";
import type { Network } from "./network.ts";
import type { SimProcess } from "./process.ts";

/** What listens at an address: a process, and in it something that answers. */
interface Listener {
  readonly process: SimProcess;
  handle(request: NodeRequest): Promise<NodeReply>;
}

/** Who listens where. Shared by all processes of a run. */
export type Listeners = Map<string, Listener>;

/** The links between processes as one of them sees them, in one of its lives. Calls are not repeated: a connection does not do that; the router may. */
export class SimTransport implements Transport {
  readonly #process: SimProcess;
  readonly #life: number;
  readonly #network: Network;
  readonly #listeners: Listeners;

  constructor(process: SimProcess, network: Network, listeners: Listeners) {
    this.#process = process;
    this.#life = process.life;
    this.#network = network;
    this.#listeners = listeners;
  }

  call(address: string, request: NodeRequest, { timeoutMs }: TransportOptions): Promise<NodeReply> {
    const caller = this.#process;
    return new Promise<NodeReply>((resolve, reject) => {
      const call = new Call(caller, this.#life, this.#network, address, request, resolve, reject);
      call.timer = caller.clock.after(timeoutMs, () =>
        call.fail("TIMEOUT", `${address}: no answer within ${timeoutMs} ms`),
      );
      const listener = this.#listeners.get(address);
      if (listener === undefined) {
        caller.clock.after(1, () => call.fail("UNREACHABLE", `${address}: no such address`));
        return;
      }
      caller.send(() => this.#network.send(caller.name, listener.process.name, () => arrive(call, listener)));
    });
  }
}

/** A call from its caller's side. */
class Call {
  readonly caller: SimProcess;
  readonly life: number;
  readonly network: Network;
  readonly address: string;
  readonly request: NodeRequest;
  readonly #resolve: (reply: NodeReply) => void;
  readonly #reject: (error: TransportError) => void;
  timer: Timer | undefined;

  constructor(
    caller: SimProcess,
    life: number,
    network: Network,
    address: string,
    request: NodeRequest,
    resolve: (reply: NodeReply) => void,
    reject: (error: TransportError) => void,
  ) {
    this.caller = caller;
    this.life = life;
    this.network = network;
    this.address = address;
    this.request = request;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  succeed(reply: NodeReply): void {
    this.timer?.cancel();
    this.#resolve(reply);
  }

  fail(code: TransportErrorCode, message: string): void {
    this.timer?.cancel();
    this.#reject(new TransportError(code, message));
  }

  /** Something goes back to the caller. */
  back(from: SimProcess, run: () => void): void {
    this.network.sendInto(from.name, this.caller, this.life, run);
  }
}

/** A call reaches where it was sent; once as a rule, again when the network repeats it. */
function arrive(call: Call, listener: Listener): void {
  const { process: target } = listener;
  const { address } = call;
  if (!target.up) return call.back(target, () => call.fail("UNREACHABLE", `${address}: nobody listens`));
  let open = true;
  const ended = target.atEnd(() => {
    open = false;
    call.back(target, () => call.fail("CUT", `${address}: the connection was cut`));
  });
  target.enter(target.life, () => {
    listener.handle(call.request).then(
      (reply) => {
        if (!open) return;
        target.notAtEnd(ended);
        target.send(() => call.back(target, () => call.succeed(reply)));
      },
      (error: unknown) => {
        if (!open) return;
        target.notAtEnd(ended);
        call.back(target, () => call.fail("CUT", `${address}: the node failed: ${String(error)}`));
      },
    );
  });
}
