/** Certificates for tests of TLS: an authority of our own, a server on loopback, a client. Made by `openssl` in a folder, good for a day. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { requireProgram } from "./debian.ts";

/** Files in PEM. */
interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

export interface TestCertificates {
  /** The authority's own certificate. */
  readonly ca: string;
  readonly server: CertificateFiles;
  readonly client: CertificateFiles;
}

export function makeCertificates(folder: string): TestCertificates {
  const at = (name: string): string => join(folder, name);
  const program = requireProgram("etcd", "openssl");
  const openssl = (...args: readonly string[]): void => {
    execFileSync(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  };
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
  openssl(
    "req",
    "-x509",
    ...curve,
    "-subj",
    "/CN=test authority",
    "-keyout",
    at("ca.key"),
    "-out",
    at("ca.pem"),
  );
  const make = (name: string, extensions: string): CertificateFiles => {
    const [cert, key] = [at(`${name}.pem`), at(`${name}.key`)];
    writeFileSync(at(`${name}.ext`), extensions);
    openssl("req", ...curve, "-subj", `/CN=${name}`, "-keyout", key, "-out", at(`${name}.csr`));
    const authority = ["-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-CAcreateserial"];
    openssl(
      "x509",
      "-req",
      "-in",
      at(`${name}.csr`),
      ...authority,
      "-days",
      "1",
      "-extfile",
      at(`${name}.ext`),
      "-out",
      cert,
    );
    return { cert, key };
  };
  return {
    ca: at("ca.pem"),
    server: make(
      "server",
      "subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth",
    ),
    client: make("client", "extendedKeyUsage=clientAuth"),
  };
}
