/** Where a node listens, as one string: `host:port`, with brackets round an IPv6 host. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

const ADDRESS = /^(?:\[(?<v6>[0-9a-fA-F:.%]+)\]|(?<host>[^\s:[\]]+)):(?<port>\d{1,5})$/;

/** Throws a RangeError that says what an address looks like. */
export function parseAddress(address: string): HostPort {
  const groups = ADDRESS.exec(address)?.groups;
  const host = groups?.["v6"] ?? groups?.["host"];
  const port = Number(groups?.["port"]);
  if (host === undefined || port < 1 || port > 65_535) {
    throw new RangeError(`address ${JSON.stringify(address)} must look like host:port or [::1]:port`);
  }
  return { host, port };
}

export function formatAddress(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
