/** One member of etcd: where it is, and how to talk to it. */

export interface TlsOptions {
  /** Certificates in PEM of the authorities that we believe; without it, those of the system. */
  readonly ca?: string | Buffer;
  /** Our own certificate and key in PEM, where etcd asks for them. */
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** The name that etcd's certificate must bear; without it, the host. */
  readonly servername?: string;
}

export interface Target {
  readonly host: string;
  readonly port: number;
  readonly tls?: TlsOptions | undefined;
}

/** `host:port`, for people. */
export function targetName({ host, port }: Target): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

export function targetOrigin(target: Target): string {
  return `${target.tls === undefined ? "http" : "https"}://${targetName(target)}`;
}
