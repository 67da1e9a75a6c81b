/**
 * Opens the place that an address names, and looks whether it answers: wrong credentials, a missing bucket or an unusable folder are told here, in one line,
 * and not by the first call that needs them. A place that cannot be reached is tried again until the time is up.
 */
import { backoffMs, type Clock, type Random } from "@keelson/kernel";
import type { Objects } from "./contract.ts";
import { Deadline } from "./deadline.ts";
import { ObjectError } from "./errors.ts";
import { FolderObjects } from "./folder/folder-objects.ts";
import { MemoryObjects } from "./memory/memory-objects.ts";
import { credentialsFrom, type CredentialsSource, type Environment } from "./s3/credentials.ts";
import { parseObjectsUrl } from "./url.ts";

export interface OpenObjectsOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Credentials and defaults of S3 come from here: `process.env`, as a rule. */
  readonly environment: Environment;
  /** Instead of those in the environment. */
  readonly credentials?: CredentialsSource;
  /** How long to try to reach the place, 10 s when not given. */
  readonly timeoutMs?: number;
  /** Told, in one line, that a try failed and that another one follows. */
  readonly progress?: (line: string) => void;
}

const OPEN_TIMEOUT_MS = 10_000;
const TRY_TIMEOUT_MS = 3_000;
const BACKOFF = { firstMs: 200, maxMs: 2_000 };

export async function openObjects(url: string, options: OpenObjectsOptions): Promise<Objects> {
  const parsed = parseObjectsUrl(url, options.environment);
  const { clock, random, environment, credentials = credentialsFrom(environment) } = options;
  switch (parsed.kind) {
    case "memory":
      return new MemoryObjects();
    case "folder":
      return FolderObjects.open({ folder: parsed.folder, clock, random });
    case "s3": {
      // Only who uses S3 pays for loading its client.
      const { S3Objects } = await import("./s3/s3-objects.ts");
      const { address, prefix } = parsed;
      const objects = new S3Objects({ address, prefix, credentials, clock, random });
      try {
        await reach(objects, options);
      } catch (error) {
        await objects.close();
        throw error;
      }
      return objects;
    }
  }
}

async function reach(objects: Objects, options: OpenObjectsOptions): Promise<void> {
  const { clock, random, timeoutMs = OPEN_TIMEOUT_MS, progress = () => {} } = options;
  const deadline = new Deadline(clock, `reaching ${objects.place}`, { timeoutMs });
  let last: ObjectError | undefined;
  try {
    for (let tried = 1; ; tried += 1) {
      const tryMs = Math.max(1, Math.min(TRY_TIMEOUT_MS, deadline.remainingMs));
      try {
        // oxlint-disable-next-line no-await-in-loop -- the next try comes after this one.
        await objects.list("", { timeoutMs: tryMs, limit: 1 });
        return;
      } catch (error) {
        if (!(error instanceof ObjectError) || error.code !== "OBJECT_UNAVAILABLE") throw error;
        // A try that was cut short says only that it was.
        if (tryMs === TRY_TIMEOUT_MS) last = error;
        const waitMs = backoffMs(BACKOFF, tried, random);
        if (deadline.remainingMs <= waitMs) throw unreached(objects, timeoutMs, last ?? error);
        progress(`cannot reach ${objects.place} yet, trying again: ${error.message}`);
        // oxlint-disable-next-line no-await-in-loop -- the same.
        await deadline.sleep(waitMs);
      }
    }
  } finally {
    deadline.close();
  }
}

function unreached({ place }: Objects, timeoutMs: number, cause: ObjectError): ObjectError {
  const text = `${place} was not reached within ${timeoutMs} ms: check the address, and that it runs; the last try: ${cause.message}`;
  return new ObjectError("OBJECT_UNAVAILABLE", text, { cause });
}
