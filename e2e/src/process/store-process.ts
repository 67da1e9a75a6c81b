/** A `keelson store` in a process of its own, in a folder of its own. */
import { KeelsonProcess } from "./keelson-process.ts";

/** Starts one and waits until it is served. */
export async function startStore(
  folder: string,
): Promise<{ process: KeelsonProcess; url: string; address: string }> {
  const process = new KeelsonProcess(["store", folder, "--listen", "127.0.0.1:0"]);
  const address = (await process.says(/is served at embedded:\/\/(\S+)/))[1] ?? "";
  return { process, url: `embedded://${address}`, address };
}
