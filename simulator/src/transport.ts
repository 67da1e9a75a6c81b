import {
  TransportError,
  type NodeReply,
  type NodeRequest,
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
      const fail = (code: TransportErrorCode, message: string): void => {
        timer.cancel();
        reject(new TransportError(code, message));
      };
      const timer = caller.clock.after(timeoutMs, () =>
        fail("TIMEOUT", `${address}: no answer within ${timeoutMs} ms`),
      );
      const back = (from: string, run: () => void): void =>
        this.#network.send(from, caller.name, () => caller.enter(this.#life, run));
      const arrive = (listener: Listener): void => {
        const { process: target } = listener;
        if (!target.up) return back(target.name, () => fail("UNREACHABLE", `${address}: nobody listens`));
        let open = true;
        const forget = target.atEnd(() => {
          open = false;
          back(target.name, () => fail("CUT", `${address}: the connection was cut`));
        });
        const life = target.life;
        target.enter(life, () => {
          listener.handle(request).then(
            (reply) => {
              if (!open) return;
              forget();
              target.send(() =>
                back(target.name, () => {
                  timer.cancel();
                  resolve(reply);
                }),
              );
            },
            (error: unknown) => {
              if (!open) return;
              forget();
              back(target.name, () => fail("CUT", `${address}: the node failed: ${String(error)}`));
            },
          );
        });
      };
      const listener = this.#listeners.get(address);
      if (listener === undefined) {
        caller.clock.after(1, () => fail("UNREACHABLE", `${address}: no such address`));
        return;
      }
      caller.send(() => this.#network.send(caller.name, listener.process.name, () => arrive(listener)));
    });
  }
}
