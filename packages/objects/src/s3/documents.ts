/** The XML documents of requests and answers: pages of a listing, deletions, and the parts of an upload. */
import type { ObjectPage } from "../contract.ts";
import { ObjectError } from "../errors.ts";
import { sizeOf } from "../sealed/layout.ts";
import { answerError, type S3Target } from "./answers.ts";
import { XmlError, escapeXml, readXml, type XmlElement } from "./xml.ts";

/** A page of a listing; keys come without the prefix that all of ours have. */
export function readPage(body: Buffer, prefix: string, what: string): ObjectPage {
  const root = readDocument(body, "ListBucketResult", what);
  return {
    objects: root.all("Contents").map((each) => ({
      key: decodeKey(each.get("Key") ?? "").slice(prefix.length),
      sizeBytes: sizeOf(Number(each.get("Size"))) ?? 0,
      version: (each.get("ETag") ?? "").replaceAll('"', ""),
    })),
    more: root.get("IsTruncated") === "true",
  };
}

export function deleteRequest(keys: readonly string[]): Buffer {
  const objects = keys.map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`).join("");
  return Buffer.from(`<Delete><Quiet>true</Quiet>${objects}</Delete>`);
}

/** Throws when the answer says that an object could not be deleted. */
export function readDeleted(body: Buffer, what: string, target: S3Target): void {
  const [failed] = readDocument(body, "DeleteResult", what).all("Error");
  if (failed === undefined) return;
  const { code, message } = answerError(
    { status: failed.get("Code") === "AccessDenied" ? 403 : 500, headers: {}, body: Buffer.alloc(0) },
    `${what}, of "${failed.get("Key") ?? ""}" first,`,
    target,
  );
  throw new ObjectError(code, `${message} (${failed.get("Code") ?? "no code"})`);
}

export function readUploadId(body: Buffer, what: string): string {
  const id = readDocument(body, "InitiateMultipartUploadResult", what).get("UploadId");
  if (id === undefined || id === "") throw unreadable(what);
  return id;
}

export function completeRequest(etags: readonly string[]): Buffer {
  const parts = etags.map(
    (etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
  );
  return Buffer.from(`<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`);
}

/** S3 begins to answer before it knows whether it can: "200" may carry an error. */
export function isCompleted(body: Buffer, what: string): boolean {
  return readAny(body, what).name === "CompleteMultipartUploadResult";
}

function readDocument(body: Buffer, name: string, what: string): XmlElement {
  const root = readAny(body, what);
  if (root.name !== name) throw unreadable(what);
  return root;
}

function readAny(body: Buffer, what: string): XmlElement {
  try {
    return readXml(body.toString());
  } catch (error) {
    if (error instanceof XmlError) throw unreadable(what, error);
    throw error;
  }
}

function unreadable(what: string, cause?: unknown): ObjectError {
  return new ObjectError(
    "OBJECT_UNAVAILABLE",
    `${what}: the answer is not what an S3 server says; check the endpoint`,
    {
      cause,
    },
  );
}

/** `encoding-type=url`, in which a space is a plus. */
function decodeKey(encoded: string): string {
  return decodeURIComponent(encoded.replaceAll("+", "%20"));
}
