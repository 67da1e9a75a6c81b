/**
 * Serves plug-ins' gRPC services. Tokens, tenants, limits and errors are the same as for HTTP; only the protocol differs, which grpc-js speaks. It
 * has a port of its own, because an HTTP/1.1 server cannot share one with it.
 */
import {
  Metadata,
  Server,
  ServerCredentials,
  status,
  type ServiceDefinition,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
} from "@grpc/grpc-js";
import {
  GrpcFailure,
  RouterError,
  redact,
  type AnyPlugin,
  type Clock,
  type FleetAccess,
  type GrpcCall,
  type GrpcMethod,
  type HostPort,
  type Logger,
  type Principal,
} from "@keelson/runtime";
import type { Asker, Auditor } from "../audit/auditor.ts";
import type { Admission } from "../auth/admission.ts";
import { noLongerGood } from "../auth/authority.ts";
import { WatchedCertificate } from "../http/watched-certificate.ts";
import type { GatewayMetrics } from "../observe/gateway-metrics.ts";
import { Problem, problemOf } from "../problem.ts";
import type { Shedding } from "../shedding.ts";
import { healthDefinition, healthHandlers } from "./health-service.ts";
import { ShownCertificate } from "./shown-certificate.ts";

export interface GrpcPorts {
  readonly plugins: readonly AnyPlugin[];
  readonly access: FleetAccess;
  readonly admission: Admission;
  readonly auditor: Auditor;
  readonly shedding: Shedding;
  readonly metrics: GatewayMetrics;
  readonly log: Logger;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  readonly clock: Clock;
  /** The certificate's files have changed and cannot be used: the old ones stay. */
  readonly problem: (text: string) => void;
  /** For calls that bring no deadline. */
  readonly timeoutMs: number;
  /** Whether calls should be sent here, for the health service. */
  readonly ready: () => boolean;
}

/** As much as clients of the protocols that are served here send. */
const MESSAGE_BYTES_MAX = 128 * 1024 * 1024;

export class GrpcServer {
  readonly #server = new Server({
    "grpc.max_receive_message_length": MESSAGE_BYTES_MAX,
    "grpc.max_send_message_length": MESSAGE_BYTES_MAX,
    "grpc.max_concurrent_streams": 1_000,
  });
  readonly #ports: GrpcPorts;
  #certificate: ShownCertificate | undefined;

  constructor(ports: GrpcPorts) {
    this.#ports = ports;
    const services = new Set<string>();
    for (const plugin of ports.plugins)
      for (const { name, methods } of plugin.grpc ?? []) {
        services.add(name);
        this.#add(plugin, name, methods);
      }
    this.#server.addService(
      healthDefinition,
      healthHandlers({ clock: ports.clock, ready: ports.ready, services }),
    );
  }

  /** Where it listens. Rejects when the address cannot be had. */
  async listen({ host, port }: HostPort): Promise<string> {
    const { tls, clock, problem } = this.#ports;
    this.#certificate = tls && new ShownCertificate(new WatchedCertificate(tls, clock, problem));
    const credentials = this.#certificate?.credentials ?? ServerCredentials.createInsecure();
    const named = host.includes(":") ? `[${host}]` : host;
    const bound = await new Promise<number>((resolve, reject) => {
      this.#server.bindAsync(`${named}:${port}`, credentials, (error, actual) => {
        if (error) reject(error);
        else resolve(actual);
      });
    });
    return `${named}:${bound}`;
  }

  async close(cut: Promise<void>): Promise<void> {
    this.#certificate?.stop();
    const closed = new Promise<void>((resolve) => {
      this.#server.tryShutdown(() => resolve());
    });
    await Promise.race([closed, cut]);
    this.#server.forceShutdown();
  }

  #add(plugin: AnyPlugin, service: string, methods: Readonly<Record<string, GrpcMethod>>): void {
    const definition: Record<string, ServiceDefinition[string]> = {};
    const handlers: Record<
      string,
      handleUnaryCall<unknown, unknown> | handleServerStreamingCall<unknown, unknown>
    > = {};
    for (const [name, method] of Object.entries(methods)) {
      definition[name] = {
        path: `/${service}/${name}`,
        requestStream: false,
        responseStream: method.kind === "server-stream",
        requestSerialize: (message: Buffer) => message,
        requestDeserialize: (bytes) => method.decode(bytes),
        responseSerialize: (message) => Buffer.from(method.encode(message)),
        responseDeserialize: (bytes: Buffer) => bytes,
      };
      const counted = this.#ports.metrics.operation(plugin.name, `grpc ${name}`);
      if (method.kind === "unary")
        handlers[name] = (call: ServerUnaryCall<unknown, unknown>, answered: sendUnaryData<unknown>) => {
          this.#within(plugin, name, method, call, (context) => method.handle(call.request, context)).then(
            (answer) => {
              counted.answered(0, undefined);
              answered(null, answer);
            },
            (error: unknown) => {
              const failure = this.#failure(error);
              counted.answered(failure.code, undefined);
              answered(failure);
            },
          );
        };
      else
        handlers[name] = (call: ServerWritableStream<unknown, unknown>) => {
          this.#within(plugin, name, method, call, async (context) => {
            for await (const item of method.handle(call.request, context)) {
              if (call.cancelled || context.signal.aborted) return;
              if (!call.write(item)) await drained(call);
            }
          }).then(
            () => {
              counted.answered(0, undefined);
              call.end();
            },
            (error: unknown) => {
              const failure = this.#failure(error);
              counted.answered(failure.code, undefined);
              call.emit("error", failure);
            },
          );
        };
    }
    this.#server.addService(definition, handlers);
  }

  async #within<T>(
    plugin: AnyPlugin,
    name: string,
    method: GrpcMethod,
    call: ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>,
    run: (context: GrpcCall) => Promise<T>,
  ): Promise<T> {
    const { admission, shedding, access, timeoutMs } = this.#ports;
    const { authority } = admission;
    shedding.enter();
    let leave = (): void => undefined;
    try {
      const metadata = textsOf(call.metadata);
      const principal = this.#admit(plugin, method, name, call, metadata["authorization"]);
      const abort = new AbortController();
      call.once("cancelled", () => abort.abort());
      let refused: (problem: Problem) => void = () => undefined;
      const refusal = new Promise<never>((_, reject) => {
        refused = reject;
      });
      leave = authority.live.enter(principal, () => {
        abort.abort();
        refused(noLongerGood());
      });
      const context: GrpcCall = {
        access,
        principal,
        metadata,
        host: call.getHost(),
        signal: abort.signal,
        timeoutMs: leftOf(call.getDeadline(), timeoutMs),
        trace: metadata["traceparent"],
      };
      const answer = (): Promise<T> => Promise.race([run(context), refusal]);
      if (method.scope !== "admin" || method.open === true) return await answer();
      return await this.#audited(plugin, name, { principal, from: fromOf(call) }, call.request, answer);
    } finally {
      leave();
      shedding.exit();
    }
  }

  /** What only operators may do is written down before it is answered, as over HTTP, and is not done when it cannot be. */
  async #audited<T>(
    plugin: AnyPlugin,
    name: string,
    asker: Asker,
    request: unknown,
    run: () => Promise<T>,
  ): Promise<T> {
    const { auditor } = this.#ports;
    const action = { service: plugin.name, name: `grpc ${name}` };
    await auditor.log.require();
    try {
      const answer = await run();
      await auditor.done(asker, action, { input: plainOf(request) }, undefined);
      return answer;
    } catch (error) {
      await auditor.failed(asker, action, undefined, problemOf(error, plugin));
      throw error;
    }
  }

  /** What is refused is audited as over HTTP. Throws Problem. */
  #admit(
    plugin: AnyPlugin,
    method: GrpcMethod,
    name: string,
    call: ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>,
    authorization: string | undefined,
  ): Principal {
    const { admission, auditor } = this.#ports;
    const from = fromOf(call);
    let principal: Principal | undefined;
    try {
      const open = method.open === true;
      principal = admission.admit({ authorization, address: from }, { open, free: false });
      if (!open)
        admission.authority.permit(principal, {
          service: plugin.name,
          scope: method.scope,
          tenant: method.tenant?.(call.request),
        });
      return principal;
    } catch (error) {
      if (error instanceof Problem && (error.status === 401 || error.status === 403))
        void auditor.failed(
          { principal, from },
          { service: plugin.name, name: `grpc ${name}` },
          undefined,
          error,
        );
      throw error;
    }
  }

  #failure(error: unknown): { code: number; details: string; metadata: Metadata } {
    const metadata = new Metadata();
    if (error instanceof GrpcFailure) {
      for (const [name, value] of Object.entries(error.trailers)) metadata.set(name, value);
      return { code: error.status, details: error.message, metadata };
    }
    if (error instanceof Problem || error instanceof RouterError) {
      const known = STATUS[error.code];
      if (known !== undefined) return { code: known, details: redact(error.message), metadata };
    }
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#ports.log.error({ cause: redact(cause) }, "a gRPC call failed");
    return { code: status.INTERNAL, details: "something failed here: ask the operator", metadata };
  }
}

/** The gateway's and the router's own codes, as gRPC says them. */
const STATUS: Readonly<Record<string, number>> = {
  UNAUTHORISED: status.UNAUTHENTICATED,
  FORBIDDEN: status.PERMISSION_DENIED,
  SHED: status.RESOURCE_EXHAUSTED,
  OVERLOADED: status.RESOURCE_EXHAUSTED,
  NO_SHARD: status.NOT_FOUND,
  NO_HOLDER: status.UNAVAILABLE,
  WARMING: status.UNAVAILABLE,
  UNREACHABLE: status.UNAVAILABLE,
  QUARANTINED: status.UNAVAILABLE,
  BUDGET: status.UNAVAILABLE,
  MOVED: status.UNAVAILABLE,
  CUT: status.UNAVAILABLE,
  STALE: status.UNAVAILABLE,
  AUDIT_UNAVAILABLE: status.UNAVAILABLE,
  OUTCOME_UNKNOWN: status.UNKNOWN,
  TIMEOUT: status.DEADLINE_EXCEEDED,
};

function textsOf(metadata: Metadata): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(metadata.getMap()))
    if (typeof value === "string") texts[name] = value;
  return texts;
}

function fromOf(call: { getPeer(): string }): string {
  return call.getPeer().replace(/:\d+$/, "");
}

/** The fields of a message that can be written down: bytes and what is nested cannot. */
function plainOf(message: unknown): Record<string, unknown> {
  if (typeof message !== "object" || message === null) return {};
  const plain = Object.entries(message).filter(([, value]) =>
    ["string", "number", "boolean"].includes(typeof value),
  );
  return Object.fromEntries(plain);
}

function leftOf(deadline: Date | number, mostMs: number): number {
  const at = typeof deadline === "number" ? deadline : deadline.getTime();
  return Number.isFinite(at) ? Math.max(1, Math.min(mostMs, at - Date.now())) : mostMs;
}

function drained(call: ServerWritableStream<unknown, unknown>): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      call.off("drain", end).off("cancelled", end).off("close", end);
      resolve();
    };
    call.on("drain", end).on("cancelled", end).on("close", end);
  });
}
