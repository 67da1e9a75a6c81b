import { expect, test } from "vitest";
import { EMPTY_SHA256, Signer, encodePart, encodePath, encodeQuery, sha256 } from "./sign.ts";

/** The examples of "Signature Calculations for the Authorization Header" in the Amazon S3 API reference. */
const credentials = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};
const example = {
  host: "examplebucket.s3.amazonaws.com",
  wallMs: Date.UTC(2013, 4, 24),
  headers: {},
  query: "",
  bodySha256: EMPTY_SHA256,
};

test.each([
  [
    "a range of an object",
    { ...example, method: "GET", path: "/test.txt", headers: { range: "bytes=0-9" } },
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  ],
  [
    "a put",
    {
      ...example,
      method: "PUT",
      path: encodePath("/test$file.text"),
      headers: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
      bodySha256: sha256("Welcome to Amazon S3."),
    },
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  ],
  [
    "a bucket's lifecycle",
    { ...example, method: "GET", path: "/", query: "lifecycle=" },
    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  ],
  [
    "a listing",
    { ...example, method: "GET", path: "/", query: encodeQuery({ prefix: "J", "max-keys": "2" }) },
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  ],
])("signs %s as the reference does", (_, request, signature) => {
  const headers = new Signer("us-east-1").sign(request, credentials);
  expect(headers["authorization"]).toMatch(new RegExp(`Signature=${signature}$`));
  expect(headers["authorization"]).toContain(
    "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request",
  );
});

test("signs a session token along, and derives a new key for a new day or secret", () => {
  const signer = new Signer("us-east-1");
  const request = { ...example, method: "GET", path: "/test.txt", headers: { range: "bytes=0-9" } };
  const headers = signer.sign(request, { ...credentials, sessionToken: "t" });
  expect(headers["x-amz-security-token"]).toBe("t");
  expect(headers["authorization"]).toContain("x-amz-security-token");
  const later = { ...request, wallMs: Date.UTC(2013, 4, 25) };
  const again = new Signer("us-east-1").sign(later, credentials)["authorization"];
  expect(signer.sign(later, credentials)["authorization"]).toBe(again);
  expect(signer.sign(later, { ...credentials, secretAccessKey: "x" })["authorization"]).not.toBe(again);
  expect(signer.sign(request, credentials)["authorization"]).toMatch(/f0e8bdb87c96/);
});

test("encodes everything that is not unreserved", () => {
  expect(encodePart("a b+c/d!'()*~é")).toBe("a%20b%2Bc%2Fd%21%27%28%29%2A~%C3%A9");
  expect(encodePath("a b/c?d")).toBe("a%20b/c%3Fd");
});
