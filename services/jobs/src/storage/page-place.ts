/**
 * Where a shard's pages lie, given where the fleet's objects are. SlateDB speaks to a place by itself and not through `Objects`, so the place is worked out from
 * what `Objects` says of itself: beside the journals in a folder, below the same prefix in a bucket.
 */
import { join } from "node:path";
import type { Objects } from "@keelson/objects";
import type { PagePlace } from "./slate-pages.ts";

/** `configured` is the setting `pages`, when somebody wants them elsewhere; undefined when objects are only in memory. */
export function pagePlace(objects: Objects, configured: string): PagePlace | undefined {
  if (configured.startsWith("s3://")) return { kind: "s3", url: configured };
  if (configured !== "") return { kind: "folder", folder: configured.replace(/^file:(\/\/)?/, "") };
  // Journals end with .journal, so this is nobody's.
  if (objects.journalFolder !== undefined)
    return { kind: "folder", folder: join(objects.journalFolder, "pages") };
  const s3 = /^(?:(?<scope>.*) of )?(?<url>s3:\/\/\S*) at (?<endpoint>\S+)$/.exec(objects.place)?.groups;
  if (s3 === undefined) return undefined;
  const url = `${s3["url"]!.replace(/\/$/, "")}/${s3["scope"] ?? ""}pages`;
  return { kind: "s3", url, endpoint: s3["endpoint"]! };
}

/** SlateDB reads where S3 is from the environment alone. What the operator has set there wins. */
export function prepareEnvironment(place: PagePlace, environment: Record<string, string | undefined>): void {
  if (place.kind !== "s3" || place.endpoint === undefined) return;
  environment["AWS_ENDPOINT"] ??= environment["AWS_ENDPOINT_URL"] ?? place.endpoint;
  environment["AWS_REGION"] ??= "us-east-1";
  if (environment["AWS_ENDPOINT"].startsWith("http:")) environment["AWS_ALLOW_HTTP"] ??= "true";
}
