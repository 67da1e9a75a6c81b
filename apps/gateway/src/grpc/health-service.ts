/**
 * gRPC's own health service, `grpc.health.v1.Health`: balancers and clients of many protocols ask it before anything else, without a token. A service is as well as the
 * gateway that serves it. Its two messages are one field each, so they are written here by hand.
 */
import { status, type ServerUnaryCall, type ServerWritableStream, type sendUnaryData } from "@grpc/grpc-js";
import type { Clock } from "@keelson/runtime";

export interface HealthPorts {
  readonly clock: Clock;
  /** Whether calls should be sent here. */
  readonly ready: () => boolean;
  /** The services that are served, by their full names. */
  readonly services: ReadonlySet<string>;
}

const NAME = "grpc.health.v1.Health";
const SERVING = { serving: 1, notServing: 2, serviceUnknown: 3 } as const;
/** `Watch` tells of a change at most so much later. */
const LOOK_MS = 1_000;

type Asked = { readonly service: string };

const method = (name: string, responseStream: boolean) => ({
  path: `/${NAME}/${name}`,
  requestStream: false as const,
  responseStream,
  requestSerialize: () => Buffer.alloc(0),
  requestDeserialize: (bytes: Buffer): Asked => ({ service: serviceOf(bytes) }),
  // Field 1, a varint.
  responseSerialize: (serving: number) => Buffer.from([0x08, serving]),
  responseDeserialize: (bytes: Buffer) => bytes[1] ?? 0,
});

export const healthDefinition = { Check: method("Check", false), Watch: method("Watch", true) };

export function healthHandlers({ clock, ready, services }: HealthPorts) {
  const servingOf = (service: string): number => {
    if (service !== "" && !services.has(service)) return SERVING.serviceUnknown;
    return ready() ? SERVING.serving : SERVING.notServing;
  };
  return {
    Check(call: ServerUnaryCall<Asked, number>, answered: sendUnaryData<number>): void {
      const serving = servingOf(call.request.service);
      if (serving === SERVING.serviceUnknown)
        answered({ code: status.NOT_FOUND, details: `unknown service ${call.request.service}` });
      else answered(null, serving);
    },
    /** What it is, and then every change, until the caller leaves. */
    Watch(call: ServerWritableStream<Asked, number>): void {
      let told: number | undefined;
      let timer = clock.after(0, look);
      function look(): void {
        const serving = servingOf(call.request.service);
        if (serving !== told) call.write(serving);
        told = serving;
        timer = clock.after(LOOK_MS, look);
      }
      call.once("cancelled", () => {
        timer.cancel();
        call.end();
      });
    },
  };
}

/** Field 1, a text; anything else is skipped by whoever wrote this message first, and there is nothing else. */
function serviceOf(bytes: Buffer): string {
  if (bytes.length === 0) return "";
  const length = bytes[1] ?? 0;
  if (bytes[0] !== 0x0a || length > 0x7f || bytes.length < 2 + length)
    throw new RangeError("this is no HealthCheckRequest");
  return bytes.subarray(2, 2 + length).toString();
}
