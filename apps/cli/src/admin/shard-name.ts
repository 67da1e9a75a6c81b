/** A shard as people type it: `service/shard`, or `service/shard/replica`. Unusual characters in its id are percent-encoded, as everywhere. */
import type { Epoch } from "@keelson/kernel";
import { UsageError } from "../failure.ts";

export interface ShardName {
  readonly service: string;
  readonly shard: string;
  readonly replica: number | undefined;
}

export function parseShardName(text: string): ShardName {
  const [service = "", shard = "", replica, ...rest] = text.split("/");
  const good =
    service !== "" &&
    shard !== "" &&
    rest.length === 0 &&
    (replica === undefined || /^\d{1,3}$/.test(replica));
  if (!good)
    throw new UsageError(
      `${JSON.stringify(text)} is no shard: write service/shard, or service/shard/replica, as in counter/7 or counter/7/0`,
    );
  try {
    return {
      service,
      shard: decodeURIComponent(shard),
      replica: replica === undefined ? undefined : Number(replica),
    };
  } catch (error) {
    throw new UsageError(`${JSON.stringify(text)} has a broken percent-code: write % itself as %25`, {
      cause: error,
    });
  }
}

/** A shard's id as it is typed. */
export function segment(shard: string): string {
  return encodeURIComponent(shard);
}

export function epochText({ era, revision }: Epoch): string {
  return `${era}.${revision}`;
}
