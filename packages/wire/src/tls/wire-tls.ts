/**
 * Mutual TLS for connections between the processes of a fleet: each side shows a certificate of the fleet's own authority, and talks to nobody who shows none. The
 * files are looked at again and again; what they say holds for connections from then on, and those that are open stay.
 *
 * A server tells a client whose certificate it does not take in a frame, not by breaking the handshake off, because all that a client sees of the latter is a
 * connection that was reset. It hears nothing that such a client says.
 */
import { constants } from "node:crypto";
import type { Server, Socket } from "node:net";
import {
  checkServerIdentity,
  connect,
  createSecureContext,
  createServer,
  type SecureContext,
  type Server as TlsServer,
  type TLSSocket,
} from "node:tls";
import type { Clock, Timer } from "@keelson/kernel";
import { formatAddress, type HostPort } from "../address.ts";
import type { WireClientOptions } from "../client/client.ts";
import type { WireServerOptions } from "../server/server.ts";
import {
  readCertificates,
  versionOf,
  type Certificates,
  type CertificateFiles,
} from "./certificate-files.ts";

export interface WireTlsOptions extends CertificateFiles {
  /** Both sides' certificates must bear this name. Left out, a server's must bear the host that it is reached by, and a client's may bear any. */
  readonly name?: string | undefined;
  readonly clock: Clock;
  /** New files were taken. */
  readonly onReload?: (() => void) | undefined;
  /** The files have changed and cannot be used: the old ones stay. Told once for each way in which that is so. */
  readonly onProblem: (problem: string) => void;
  /** Somebody came who does not even speak TLS. */
  readonly onStranger?: ((peer: string, reason: string) => void) | undefined;
}

const LOOK_MS = 1_000;
const HANDSHAKE_TIMEOUT_MS = 5_000;
/** Those in the middle of a handshake included, of which a server of frames does not know yet. */
const SOCKETS_MAX = 8_192;

export class WireTls {
  readonly #options: WireTlsOptions;
  readonly #servers = new Set<TlsServer>();
  #certificates: Certificates;
  #context: SecureContext;
  #version: string;
  #problem: string | undefined;
  #timer: Timer | undefined;

  /** Reads the files. Throws an Error that says which of them is wrong, and how. */
  constructor(options: WireTlsOptions) {
    this.#options = options;
    this.#version = versionOf(options);
    this.#certificates = readCertificates(options);
    this.#context = createSecureContext({ ...this.#certificates, minVersion: "TLSv1.3" });
    this.#look();
  }

  /** For a WireServer's options. */
  get server(): Required<Pick<WireServerOptions, "createServer" | "refuses">> {
    return {
      createServer: (onSocket) => this.#createServer(onSocket),
      refuses: (socket) => this.#refuses(socket as TLSSocket),
    };
  }

  /** For a WireClient's or a WirePool's options. */
  get client(): Required<Pick<WireClientOptions, "connect">> {
    return { connect: (to) => this.#connect(to) };
  }

  /** Looks at the files no more. */
  stop(): void {
    this.#timer?.cancel();
  }

  #createServer(onSocket: (socket: Socket) => void): Server {
    const server = createServer(
      {
        ...this.#certificates,
        minVersion: "TLSv1.3",
        requestCert: true,
        // Checked in `refuses`, which tells the client why.
        rejectUnauthorized: false,
        handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
        // A resumed session would skip the check against files that have changed since.
        secureOptions: constants.SSL_OP_NO_TICKET,
      },
      onSocket,
    );
    server.maxConnections = SOCKETS_MAX;
    server.on("tlsClientError", (error, socket) => {
      const peer = `${socket.remoteAddress ?? "?"}:${socket.remotePort ?? 0}`;
      this.#options.onStranger?.(peer, `it did not complete a TLS handshake: ${error.message.trim()}`);
      socket.destroy();
    });
    this.#servers.add(server);
    server.once("close", () => this.#servers.delete(server));
    return server;
  }

  #refuses(socket: TLSSocket): string | undefined {
    const certificate = socket.getPeerCertificate();
    if (Object.keys(certificate).length === 0)
      return "the client shows no certificate: give it one of the fleet's authority";
    if (!socket.authorized)
      return `the client's certificate is not taken (${reasonOf(socket.authorizationError)}): it must be of the fleet's authority, and in date`;
    const { name } = this.#options;
    if (name !== undefined && checkServerIdentity(name, certificate))
      return `the client's certificate does not bear the name ${name}`;
    return undefined;
  }

  #connect({ host, port }: HostPort): Socket {
    const { name } = this.#options;
    const socket = connect({
      host,
      port,
      secureContext: this.#context,
      minVersion: "TLSv1.3",
      ...(name === undefined
        ? {}
        : { checkServerIdentity: (_host: string, certificate) => checkServerIdentity(name, certificate) }),
    });
    const where = formatAddress(host, port);
    // Heard before anybody else does: the system's words do not say which side's certificate is meant.
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (isAboutCertificate(error.code))
        error.message = `the certificate of ${where} is not taken (${error.code}): it must be of the fleet's authority, in date, and bear the name ${name ?? host}`;
      else if (error.code?.startsWith("ERR_SSL_") === true)
        error.message = `${where} does not complete a TLS handshake (${error.code}): has it TLS at all?`;
    });
    return socket;
  }

  #look(): void {
    this.#timer = this.#options.clock.after(LOOK_MS, () => {
      try {
        this.#reload();
        this.#problem = undefined;
      } catch (error) {
        // Files are replaced one after the other: the next look may find them whole.
        const problem = `the certificates stay as they were: ${error instanceof Error ? error.message : String(error)}`;
        if (problem !== this.#problem) this.#options.onProblem(problem);
        this.#problem = problem;
      }
      this.#look();
    });
  }

  #reload(): void {
    const version = versionOf(this.#options);
    if (version === this.#version) return;
    const certificates = readCertificates(this.#options);
    this.#context = createSecureContext({ ...certificates, minVersion: "TLSv1.3" });
    this.#certificates = certificates;
    for (const server of this.#servers)
      server.setSecureContext({
        ...certificates,
        minVersion: "TLSv1.3",
        secureOptions: constants.SSL_OP_NO_TICKET,
      });
    this.#version = version;
    this.#options.onReload?.();
  }
}

const ABOUT_CERTIFICATES =
  /^(?:UNABLE_TO_|CERT_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA|INVALID_PURPOSE|ERR_TLS_CERT|HOSTNAME_MISMATCH)/;

function isAboutCertificate(code: string | undefined): boolean {
  return code !== undefined && ABOUT_CERTIFICATES.test(code);
}

/** A code such as SELF_SIGNED_CERT_IN_CHAIN; Node's types say Error, and its documents text. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
