/** The gateway's certificate as grpc-js takes it: told at once, and again when its files have changed. Open connections stay as they are. */
import { experimental, type ServerCredentials } from "@grpc/grpc-js";
import type { CertificateText, WatchedCertificate } from "../http/watched-certificate.ts";

type Listener = experimental.IdentityCertificateUpdateListener;

export class ShownCertificate implements experimental.CertificateProvider {
  readonly #certificate: WatchedCertificate;
  readonly #listeners = new Set<Listener>();

  constructor(certificate: WatchedCertificate) {
    this.#certificate = certificate;
    certificate.watch((files) => {
      for (const listener of this.#listeners) listener(updateOf(files));
    });
  }

  /** Its clients show no certificate. */
  get credentials(): ServerCredentials {
    return experimental.createCertificateProviderServerCredentials(this, null, false);
  }

  addIdentityCertificateListener(listener: Listener): void {
    this.#listeners.add(listener);
    // Not at once: the server that asks is told of updates only from the next moment on.
    queueMicrotask(() => listener(updateOf(this.#certificate.files)));
  }

  removeIdentityCertificateListener(listener: Listener): void {
    this.#listeners.delete(listener);
  }

  /** Only asked of a provider of authorities, which this is not. */
  addCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    listener(null);
  }

  removeCaCertificateListener(): void {
    // None was kept.
  }

  stop(): void {
    this.#certificate.stop();
  }
}

function updateOf({ cert, key }: CertificateText): experimental.IdentityCertificateUpdate {
  return { certificate: Buffer.from(cert), privateKey: Buffer.from(key) };
}
