/** A client of `silo.v1`, built from the protocol's tables and nothing else of ours. */
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { SILO, type SiloAnswer, type SiloRequest } from "@keelson/jobs/silo";

export type SiloName = keyof typeof SILO;

export class SiloClient {
  readonly client: Client;
  readonly #metadata = new Metadata();

  constructor(address: string, token?: string) {
    this.client = new Client(address, credentials.createInsecure());
    if (token !== undefined) this.#metadata.set("authorization", `Bearer ${token}`);
  }

  call<M extends SiloName>(method: M, request: Partial<SiloRequest<M>>): Promise<Required<SiloAnswer<M>>> {
    const { request: asked, answer } = SILO[method];
    return new Promise((resolve, reject) => {
      this.client.makeUnaryRequest(
        `/silo.v1.Silo/${method}`,
        (value: Partial<SiloRequest<M>>) => asked.encode(value as never),
        (bytes) => answer.decode(bytes) as unknown as Required<SiloAnswer<M>>,
        request,
        this.#metadata,
        (error: ServiceError | null, value) => (error === null ? resolve(value!) : reject(error)),
      );
    });
  }

  /** "status text", or "" when it succeeded. */
  async failureOf<M extends SiloName>(method: M, request: Partial<SiloRequest<M>>): Promise<string> {
    try {
      await this.call(method, request);
      return "";
    } catch (error) {
      const { code, details } = error as ServiceError;
      return `${code} ${details}`;
    }
  }

  /** Bytes that need not be a message, to any method. */
  raw(path: string, bytes: Buffer): Promise<Buffer | ServiceError> {
    return new Promise((resolve) => {
      this.client.makeUnaryRequest(
        path,
        (each: Buffer) => each,
        (each) => each,
        bytes,
        this.#metadata,
        (error, answer) => resolve(error ?? answer!),
      );
    });
  }

  /** All messages of a stream, or how it failed. */
  async stream(request: Partial<SiloRequest<"QueryArrow">>): Promise<Uint8Array[] | string> {
    const { request: asked, answer } = SILO.QueryArrow;
    const stream = this.client.makeServerStreamRequest(
      "/silo.v1.Silo/QueryArrow",
      (value: Partial<SiloRequest<"QueryArrow">>) => asked.encode(value),
      (bytes) => answer.decode(bytes),
      request,
      this.#metadata,
    );
    const messages: Uint8Array[] = [];
    try {
      for await (const message of stream) messages.push((message as { ipc_data: Uint8Array }).ipc_data);
      return messages;
    } catch (error) {
      const { code, details } = error as ServiceError;
      return `${code} ${details}`;
    }
  }

  close(): void {
    this.client.close();
  }
}
