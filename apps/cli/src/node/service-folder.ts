import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";

/** A service's own folder below the node's, made if need be. */
export function serviceFolder(data: string, service: string): string {
  const folder = join(resolve(data), "services", service);
  mkdirSync(folder, { recursive: true });
  return folder;
}
