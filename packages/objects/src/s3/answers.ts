/** What the server said no with, as the contract says it: one line, with what to check, and never a secret. */
import { ObjectError } from "../errors.ts";
import { XmlError, readXml } from "./xml.ts";

export interface S3Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

/** Who and where, for messages. */
export interface S3Target {
  readonly bucket: string;
  readonly endpoint: string;
  readonly region: string;
}

/** The server's own word for what went wrong; empty where it gave none (answers to HEAD have no body). */
function codeOf({ body }: S3Answer): string {
  return body.length === 0 ? "" : (readError(body)?.code ?? "");
}

/** Answers that ask to come again. What was sent is over and was not applied, or was applied and may be sent again. */
export function isPassing(answer: S3Answer): boolean {
  return (
    answer.status >= 500 ||
    answer.status === 429 ||
    answer.status === 408 ||
    // S3 says so of two conditional writes that met.
    (answer.status === 409 && codeOf(answer) === "ConditionalRequestConflict")
  );
}

/** Credentials that may have been replaced since they were read. */
export function isStaleCredentials(answer: S3Answer): boolean {
  return (
    (answer.status === 400 || answer.status === 403) &&
    ["", "ExpiredToken", "InvalidToken", "InvalidAccessKeyId", "SignatureDoesNotMatch"].includes(
      codeOf(answer),
    )
  );
}

/** The error for an answer that is neither a success nor an expected outcome. */
export function answerError(answer: S3Answer, what: string, target: S3Target): ObjectError {
  const { status } = answer;
  const { code, message } = readError(answer.body) ?? { code: "", message: "" };
  const said = [status, code].filter((part) => part !== "").join(" ");
  const denied = (check: string): ObjectError =>
    new ObjectError("OBJECT_DENIED", `${what} was refused by ${target.endpoint} (${said}): ${check}`);
  switch (code) {
    case "NoSuchBucket":
      return denied(
        `there is no bucket "${target.bucket}"; create it, or check its name, the endpoint and the region`,
      );
    case "InvalidAccessKeyId":
      return denied("the access key is not known there; check AWS_ACCESS_KEY_ID and the endpoint");
    case "SignatureDoesNotMatch":
      return denied(`the signature is wrong; check AWS_SECRET_ACCESS_KEY and the region (${target.region})`);
    case "ExpiredToken":
    case "InvalidToken":
      return denied("the session token is not valid any more; renew the credentials");
    case "RequestTimeTooSkewed":
      return denied("this machine's clock and the server's differ too much; set the clock");
    case "AuthorizationHeaderMalformed":
    case "PermanentRedirect":
    case "TemporaryRedirect":
      return denied(
        `bucket "${target.bucket}" is not in region ${target.region} of that endpoint; check region and endpoint`,
      );
    default:
      break;
  }
  if (status === 401 || status === 403)
    return denied(
      `check the access key, its secret, and that it may read, write and list bucket "${target.bucket}"`,
    );
  if (status >= 300 && status < 400)
    return denied(
      `bucket "${target.bucket}" is somewhere else; check region (${target.region}) and endpoint`,
    );
  if (isPassing(answer))
    return new ObjectError(
      "OBJECT_UNAVAILABLE",
      `${what} failed at ${target.endpoint} (${said})${explain(message)}`,
    );
  return new ObjectError(
    "OBJECT_REJECTED",
    `${what} was rejected by ${target.endpoint} (${said})${explain(message)}`,
  );
}

function explain(message: string): string {
  // One line, and not a whole page from some proxy.
  return message === "" ? "" : `: ${message.replaceAll(/\s+/g, " ").slice(0, 200)}`;
}

function readError(body: Buffer): { code: string; message: string } | undefined {
  if (body.length === 0) return undefined;
  try {
    const root = readXml(body.toString());
    return root.name === "Error"
      ? { code: root.get("Code") ?? "", message: root.get("Message") ?? "" }
      : undefined;
  } catch (error) {
    // Some proxy's page: the status has to do.
    if (error instanceof XmlError) return undefined;
    throw error;
  }
}
