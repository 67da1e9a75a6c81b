/** Mutual TLS between the processes of a fleet, as settings say it: all three files, or none. */
import type { Clock } from "@keelson/kernel";
import { WireTls } from "@keelson/wire";
import { UsageError } from "../failure.ts";
import { tellSeldom } from "../node/refusals.ts";

export interface TlsSettings {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly name: string | undefined;
  /** Before each setting's name: "tls", or "node-tls" where "tls" is already something else. */
  readonly prefix: string;
}

export interface TlsPorts {
  readonly clock: Clock;
  readonly say: (line: string) => void;
  readonly problem: (text: string) => void;
}

/** Gives what was opened with it. When that fails, nobody looks at its files any more: the process could not end otherwise. */
export async function openedWith<Opened>(
  tls: WireTls | undefined,
  opening: Promise<Opened>,
): Promise<Opened> {
  try {
    return await opening;
  } catch (error) {
    tls?.stop();
    throw error;
  }
}

/** Undefined when none of the files is named. */
export function openTls(settings: TlsSettings, { clock, say, problem }: TlsPorts): WireTls | undefined {
  const { ca, cert, key, name, prefix } = settings;
  if (ca === undefined && cert === undefined && key === undefined) {
    if (name !== undefined) throw new UsageError(`--${prefix}-name means nothing without --${prefix}-ca`);
    return undefined;
  }
  if (ca === undefined || cert === undefined || key === undefined)
    throw new UsageError(
      `TLS between nodes needs all of --${prefix}-ca, --${prefix}-cert and --${prefix}-key`,
    );
  try {
    return new WireTls({
      caFile: ca,
      certFile: cert,
      keyFile: key,
      name,
      clock,
      onReload: () => say("new certificates hold for connections from now on"),
      onProblem: problem,
      onStranger: tellSeldom(clock, problem),
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
