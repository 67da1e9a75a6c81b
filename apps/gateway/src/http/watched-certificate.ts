/** The certificate that the gateway shows to its callers: read at the start, and again when its files change. Open connections stay as they are. */
import { readFileSync, statSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { KeelsonError, type Clock, type Timer } from "@keelson/runtime";

export interface CertificateText {
  readonly cert: string;
  readonly key: string;
  readonly minVersion: "TLSv1.2";
}

const LOOK_MS = 1_000;

export class WatchedCertificate {
  readonly #paths: { readonly certFile: string; readonly keyFile: string };
  readonly #clock: Clock;
  readonly #problem: (text: string) => void;
  #files: CertificateText;
  #version: string;
  #told: string | undefined;
  #timer: Timer | undefined;

  /** Throws KeelsonError BAD_CONFIG when the files cannot be read, or do not fit each other. */
  constructor(
    paths: { readonly certFile: string; readonly keyFile: string },
    clock: Clock,
    problem: (text: string) => void,
  ) {
    this.#paths = paths;
    this.#clock = clock;
    this.#problem = problem;
    try {
      this.#version = this.#versionNow();
      this.#files = this.#read();
    } catch (error) {
      const { certFile, keyFile } = paths;
      const why = error instanceof Error ? error.message : String(error);
      const text = `the certificate ${certFile} with the key ${keyFile} cannot be used: ${why}`;
      throw new KeelsonError("BAD_CONFIG", text, { cause: error });
    }
  }

  get files(): CertificateText {
    return this.#files;
  }

  watch(changed: (files: CertificateText) => void): void {
    this.#timer = this.#clock.after(LOOK_MS, () => {
      try {
        const version = this.#versionNow();
        if (version !== this.#version) {
          this.#files = this.#read();
          this.#version = version;
          changed(this.#files);
        }
        this.#told = undefined;
      } catch (error) {
        // One file of two may have been replaced: the next look may find both.
        const text = error instanceof Error ? error.message : String(error);
        if (text !== this.#told) this.#problem(text);
        this.#told = text;
      }
      this.watch(changed);
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #read(): CertificateText {
    const { certFile, keyFile } = this.#paths;
    const files = {
      cert: readFileSync(certFile, "utf8"),
      key: readFileSync(keyFile, "utf8"),
      minVersion: "TLSv1.2",
    } as const;
    createSecureContext(files);
    return files;
  }

  #versionNow(): string {
    const { certFile, keyFile } = this.#paths;
    return [certFile, keyFile]
      .map((path) => {
        const { mtimeMs, size, ino } = statSync(path);
        return `${mtimeMs} ${size} ${ino}`;
      })
      .join("\n");
  }
}
