/**
 * The one stream on which a process renews all its leases. etcd answers in the order of the questions, so a renewal of several leases is done
 * when the last of its answers is there. A stream that ends fails what waits on it; the next renewal opens a new one.
 */
import type { Clock, Revision, Timer } from "@keelson/kernel";
import type { StreamSink } from "./grpc/call.ts";
import type { GrpcStream } from "./grpc/connection.ts";
import { GRPC, GrpcError } from "./grpc/status.ts";
import { decodeLeaseReply, encodeLease } from "./messages/lease.ts";

export interface LeaseRenewal {
  readonly alive: readonly string[];
  readonly gone: readonly string[];
  readonly revision: Revision;
}

/** One call to `renew`. */
interface Group {
  left: number;
  readonly alive: string[];
  readonly gone: string[];
  readonly timer: Timer;
  readonly resolve: (renewal: LeaseRenewal) => void;
  readonly reject: (error: GrpcError) => void;
}

export interface LeaseStreamPorts {
  readonly clock: Clock;
  open(sink: StreamSink): GrpcStream;
  /** How much was heard on the connection. */
  heard(): number;
  /** Nothing was heard for the whole of a renewal's time. */
  silent(timeoutMs: number): void;
}

export class LeaseStream {
  readonly #ports: LeaseStreamPorts;
  #stream: GrpcStream | undefined;
  /** What was asked and not answered, oldest first. Of groups that timed out too: their answers may still come. */
  #waiting: { readonly lease: string; readonly group: Group }[] = [];

  constructor(ports: LeaseStreamPorts) {
    this.#ports = ports;
  }

  renew(leases: readonly string[], timeoutMs: number): Promise<LeaseRenewal> {
    return new Promise((resolve, reject) => {
      const heard = this.#ports.heard();
      const timer = this.#ports.clock.after(timeoutMs, () => {
        reject(new GrpcError(GRPC.deadlineExceeded, `no renewal within ${timeoutMs} ms`, true));
        if (this.#ports.heard() === heard) this.#ports.silent(timeoutMs);
      });
      const group: Group = { left: leases.length, alive: [], gone: [], timer, resolve, reject };
      this.#stream ??= this.#open();
      for (const lease of leases) this.#waiting.push({ lease, group });
      this.#stream.send(...leases.map((lease) => encodeLease(lease)));
    });
  }

  #open(): GrpcStream {
    const stream = this.#ports.open({
      message: (message) => this.#answered(message),
      ended: (error) => {
        if (this.#stream !== stream) return;
        this.#stream = undefined;
        const waiting = this.#waiting;
        this.#waiting = [];
        for (const { group } of waiting) {
          group.timer.cancel();
          group.reject(error ?? new GrpcError(GRPC.unavailable, "etcd ended the stream of renewals", true));
        }
      },
    });
    return stream;
  }

  #answered(message: Buffer): void {
    const { lease, ttlSeconds, header } = decodeLeaseReply(message);
    const next = this.#waiting.shift();
    if (next?.lease !== lease)
      throw new Error(`etcd renewed lease ${lease} when ${String(next?.lease)} was next`);
    const { group } = next;
    (ttlSeconds > 0 ? group.alive : group.gone).push(lease);
    group.left -= 1;
    if (group.left > 0) return;
    group.timer.cancel();
    group.resolve({ alive: group.alive, gone: group.gone, revision: header.revision });
  }
}
