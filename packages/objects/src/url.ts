/**
 * Places for objects as people write them: `file:./folder`, `s3://bucket/prefix?endpoint=…&region=…`, `memory:`. Parsing is apart from opening, so that a
 * command can check what it was given before it starts anything. Credentials are never part of an address; see `s3/credentials.ts`.
 */
import { OBJECT_LIMITS } from "./contract.ts";
import { ObjectError } from "./errors.ts";
import { checkPrefix } from "./keys.ts";
import type { S3Address } from "./s3/connection.ts";
import type { Environment } from "./s3/credentials.ts";

export type ObjectsUrl =
  | { readonly kind: "memory" }
  | { readonly kind: "folder"; readonly folder: string }
  | { readonly kind: "s3"; readonly address: S3Address; readonly prefix: string };

const FORMS = "file:<folder>, s3://<bucket>/<prefix>?endpoint=<url>&region=<name> or memory:";
const PARAMETERS = ["endpoint", "region", "style"];
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const REGION = /^[a-z0-9-]{1,40}$/;
/** S3 takes 1,024 bytes for prefix and key together. */
const PREFIX_BYTES_MAX = 1024 - OBJECT_LIMITS.keyBytesMax;

/** Throws OBJECT_URL_INVALID with one line that says what to write instead. `environment` gives what the address leaves out. */
export function parseObjectsUrl(url: string, environment: Environment): ObjectsUrl {
  const match = /^(?<scheme>[A-Za-z][A-Za-z0-9+-]*):(?<rest>.*)$/s.exec(url);
  const scheme = match?.groups?.["scheme"]?.toLowerCase();
  const rest = match?.groups?.["rest"] ?? "";
  switch (scheme) {
    case undefined:
      throw invalid(
        url === ""
          ? `objects have no place: write ${FORMS}`
          : `"${url}" names no kind: write file:${url}, or ${FORMS}`,
      );
    case "memory":
      if (rest !== "" && rest !== "//") throw invalid("objects in memory have no address: write memory:");
      return { kind: "memory" };
    case "file":
      return folder(rest);
    case "s3":
      return s3(url, environment);
    default:
      // The rest may hold a password.
      throw invalid(`unknown place for objects "${scheme}:": write ${FORMS}`);
  }
}

function folder(rest: string): ObjectsUrl {
  // file:///path is how URLs spell file:/path.
  const path = rest.startsWith("///") ? rest.slice(2) : rest;
  if (path === "") throw invalid("file: names no folder: write file:./data, say");
  if (path.startsWith("//"))
    throw invalid("file:// with a host names no folder of this machine: write file:/path or file:./path");
  return { kind: "folder", folder: path };
}

function s3(url: string, environment: Environment): ObjectsUrl {
  const match = /^s3:\/\/(?<bucket>[^/?#]*)(?:\/(?<prefix>[^?#]*))?(?:\?(?<query>[^#]*))?$/i.exec(url);
  if (match === null)
    throw invalid("an S3 place is written s3://<bucket>/<prefix>?endpoint=<url>&region=<name>");
  const { bucket = "", prefix = "", query = "" } = match.groups ?? {};
  if (bucket.includes("@"))
    throw invalid(
      "credentials do not belong into an address: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use a credentials file",
    );
  if (!BUCKET.test(bucket)) throw invalid(`"${bucket}" is not the name of a bucket`);
  const parameters = new URLSearchParams(query);
  const strange = Array.from(parameters.keys()).find((name) => !PARAMETERS.includes(name));
  if (strange !== undefined)
    throw invalid(`s3:// has no parameter "${strange}": it has ${PARAMETERS.join(", ")}`);
  const region =
    parameters.get("region") ?? environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? "us-east-1";
  if (!REGION.test(region)) throw invalid(`"${region}" is not the name of a region`);
  const given =
    parameters.get("endpoint") ?? environment["AWS_ENDPOINT_URL_S3"] ?? environment["AWS_ENDPOINT_URL"];
  const endpoint = given === undefined ? `https://s3.${region}.amazonaws.com` : checkEndpoint(given);
  const style = parameters.get("style");
  if (style !== null && style !== "path" && style !== "virtual")
    throw invalid(`style is path (http://host/bucket) or virtual (http://bucket.host), not "${style}"`);
  // A wildcard certificate does not cover a bucket with dots.
  const pathStyle = style === null ? given !== undefined || bucket.includes(".") : style === "path";
  return {
    kind: "s3",
    prefix: checkPlacePrefix(decodeURIComponent(prefix)),
    address: { endpoint, region, bucket, pathStyle },
  };
}

function checkEndpoint(text: string): string {
  let url: URL | undefined;
  try {
    url = new URL(text);
  } catch {
    // Told below, together with what parses and still is none.
  }
  if (url?.username !== undefined && url.username !== "")
    throw invalid("credentials do not belong into an endpoint");
  const whole =
    url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "";
  if (!whole) throw invalid(`"${text}" is no endpoint: write http://host:port or https://host`);
  return url!.origin;
}

/** Empty, or ending with a slash. */
function checkPlacePrefix(prefix: string): string {
  const trimmed = prefix.replace(/\/+$/, "");
  if (trimmed === "") return "";
  try {
    checkPrefix(`${trimmed}/`);
  } catch (error) {
    throw invalid((error as Error).message);
  }
  if (Buffer.byteLength(trimmed) >= PREFIX_BYTES_MAX)
    throw invalid(`the prefix is longer than ${PREFIX_BYTES_MAX - 1} bytes`);
  return `${trimmed}/`;
}

function invalid(message: string): ObjectError {
  return new ObjectError("OBJECT_URL_INVALID", message);
}
