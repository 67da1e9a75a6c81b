/** An address to listen on: `host:port`, where port 0 means "a free one". Wire's own addresses are those of others, and have no port 0. */
import { formatAddress, parseAddress, type HostPort } from "@keelson/wire";

/** Throws a RangeError that says what an address looks like. */
export function parseListen(text: string): HostPort {
  const free = text.replace(/:0+$/, ":1");
  const parsed = parseAddress(free);
  return free === text ? parsed : { host: parsed.host, port: 0 };
}

/** Whether nobody can be told this host, because it means "all of this machine's". */
export function isWildcard({ host }: HostPort): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** Whether only this machine reaches it. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}

export function formatListen({ host, port }: HostPort): string {
  return formatAddress(host, port);
}
