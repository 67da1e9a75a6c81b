/** The three files of one side of mutual TLS, read and found to fit each other: an authority, a certificate that it vouches for, and its key. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";

export interface CertificateFiles {
  /** Whom to trust: one or more certificates as PEM. Both sides of a connection must be vouched for by one of them. */
  readonly caFile: string;
  /** As PEM, with the certificates between it and the authority, if any. */
  readonly certFile: string;
  readonly keyFile: string;
}

export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Throws an Error that names the file and what is wrong with it. The key's bytes are in no message. */
export function readCertificates({ caFile, certFile, keyFile }: CertificateFiles): Certificates {
  const [ca, cert, key] = [read(caFile), read(certFile), read(keyFile)];
  const authorities = certificatesIn(ca, caFile);
  const [leaf, ...between] = certificatesIn(cert, certFile);
  let fits: boolean | undefined;
  try {
    fits = leaf?.checkPrivateKey(createPrivateKey(key));
  } catch {
    // What the parser says of a key may quote it.
    throw new Error(`${keyFile} has no private key that can be read: it must be PEM, without a password`);
  }
  if (fits !== true) throw new Error(`the key in ${keyFile} is not that of the certificate in ${certFile}`);
  if (leaf && !vouchedFor(leaf, between, authorities))
    throw new Error(`the certificate in ${certFile} is not of the authority in ${caFile}`);
  return { ca, cert, key };
}

/** Changes when one of the files does, also when they are links that are pointed elsewhere. */
export function versionOf({ caFile, certFile, keyFile }: CertificateFiles): string {
  return [caFile, certFile, keyFile]
    .map((path) => {
      const { mtimeMs, size, ino } = statSync(path);
      return `${mtimeMs} ${size} ${ino}`;
    })
    .join("\n");
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`, {
      cause: error,
    });
  }
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function certificatesIn(text: string, path: string): X509Certificate[] {
  const found = text.match(PEM) ?? [];
  if (found.length === 0) throw new Error(`${path} has no certificate: it must be PEM`);
  try {
    return found.map((pem) => new X509Certificate(pem));
  } catch (error) {
    throw new Error(`${path} has a certificate that cannot be read`, { cause: error });
  }
}

/** A chain is at most this long, the authority not counted. */
const CHAIN_MAX = 8;

function vouchedFor(
  leaf: X509Certificate,
  between: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): boolean {
  let at: X509Certificate | undefined = leaf;
  for (let steps = 0; at !== undefined && steps < CHAIN_MAX; steps++) {
    const certificate: X509Certificate = at;
    const issued = (by: X509Certificate): boolean =>
      certificate.checkIssued(by) && certificate.verify(by.publicKey);
    if (authorities.some(issued)) return true;
    at = between.find((each) => each !== certificate && issued(each));
  }
  return false;
}
