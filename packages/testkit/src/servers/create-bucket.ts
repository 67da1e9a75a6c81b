/** Makes a bucket of a test's S3 server: the one request that a client for objects has no reason to send. */
import { createHash, createHmac } from "node:crypto";
import { request } from "node:http";

interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export function createBucket(url: string, bucket: string, keys: Keys): Promise<void> {
  const { host, hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const headers = sign(host, `/${bucket}`, keys);
    const sent = request(
      { hostname, port, path: `/${bucket}`, method: "PUT", headers, agent: false },
      (response) => {
        response.resume();
        if (response.statusCode === 200) resolve();
        else reject(new Error(`bucket "${bucket}" was not made: ${response.statusCode}`));
      },
    );
    sent.on("error", reject);
    sent.end();
  });
}

/** Signature Version 4 of a PUT without a body. */
function sign(host: string, path: string, { accessKeyId, secretAccessKey }: Keys): Record<string, string> {
  const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
  const hmac = (key: Buffer | string, text: string): Buffer =>
    createHmac("sha256", key).update(text).digest();
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const scope = [time.slice(0, 8), "us-east-1", "s3", "aws4_request"];
  const body = sha256("");
  const names = "host;x-amz-content-sha256;x-amz-date";
  const canonical = `PUT\n${path}\n\nhost:${host}\nx-amz-content-sha256:${body}\nx-amz-date:${time}\n\n${names}\n${body}`;
  const text = ["AWS4-HMAC-SHA256", time, scope.join("/"), sha256(canonical)].join("\n");
  let key: Buffer | string = `AWS4${secretAccessKey}`;
  for (const part of scope) key = hmac(key, part);
  const signature = hmac(key, text).toString("hex");
  return {
    host,
    "x-amz-content-sha256": body,
    "x-amz-date": time,
    "content-length": "0",
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope.join("/")}, SignedHeaders=${names}, Signature=${signature}`,
  };
}
