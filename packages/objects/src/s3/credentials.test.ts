import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { credentialsFrom } from "./credentials.ts";

const root = mkdtempSync(join(tmpdir(), "keelson-credentials-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const file = join(root, "credentials");

test("the environment comes first", async () => {
  const environment = {
    AWS_ACCESS_KEY_ID: "id",
    AWS_SECRET_ACCESS_KEY: "secret",
    AWS_SESSION_TOKEN: "token",
    AWS_SHARED_CREDENTIALS_FILE: join(root, "nowhere"),
  };
  expect(await credentialsFrom(environment)()).toEqual({
    accessKeyId: "id",
    secretAccessKey: "secret",
    sessionToken: "token",
  });
});

test("half of a pair in the environment is told, not passed over", async () => {
  await expect(credentialsFrom({ AWS_ACCESS_KEY_ID: "id" })()).rejects.toThrow(
    /AWS_SECRET_ACCESS_KEY is missing/,
  );
  await expect(credentialsFrom({ AWS_SECRET_ACCESS_KEY: "s" })()).rejects.toThrow(
    /AWS_ACCESS_KEY_ID is missing/,
  );
});

test("a file has a section per profile, and is read each time", async () => {
  writeFileSync(
    file,
    "# mine\n[other]\naws_access_key_id=no\n\n[default]\naws_access_key_id = id1\naws_secret_access_key= a=b/+ \n" +
      "[profile dev]\r\naws_access_key_id = id2\r\naws_secret_access_key = s2\r\naws_session_token = t2\r\n",
  );
  const read = credentialsFrom({ AWS_SHARED_CREDENTIALS_FILE: file });
  expect(await read()).toEqual({ accessKeyId: "id1", secretAccessKey: "a=b/+", sessionToken: undefined });
  expect(await credentialsFrom({ AWS_SHARED_CREDENTIALS_FILE: file, AWS_PROFILE: "dev" })()).toEqual({
    accessKeyId: "id2",
    secretAccessKey: "s2",
    sessionToken: "t2",
  });
  await expect(
    credentialsFrom({ AWS_SHARED_CREDENTIALS_FILE: file, AWS_PROFILE: "other" })(),
  ).rejects.toThrow(`${file} has no aws_access_key_id and aws_secret_access_key under [other]`);
  writeFileSync(file, "[default]\naws_access_key_id = id3\naws_secret_access_key = s3\n");
  expect(await read()).toMatchObject({ accessKeyId: "id3" });
});
