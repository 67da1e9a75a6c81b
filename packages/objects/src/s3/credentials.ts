/**
 * Who asks: an access key and its secret. They come from the environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`) or
 * from a credentials file (`AWS_SHARED_CREDENTIALS_FILE`, or `~/.aws/credentials`; the section is `AWS_PROFILE`), never from an address, and are never
 * printed. They are read again when the server refuses them, because files with short-lived credentials are rewritten.
 */
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { ObjectError } from "../errors.ts";

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** Gives the credentials to use now. Asked again after the server refused the last ones. */
export type CredentialsSource = () => Promise<S3Credentials>;

export type Environment = Readonly<Record<string, string | undefined>>;

export function credentialsFrom(environment: Environment): CredentialsSource {
  return async () => {
    const accessKeyId = environment["AWS_ACCESS_KEY_ID"];
    const secretAccessKey = environment["AWS_SECRET_ACCESS_KEY"];
    const sessionToken = environment["AWS_SESSION_TOKEN"];
    if (accessKeyId && secretAccessKey)
      return { accessKeyId, secretAccessKey, sessionToken: sessionToken || undefined };
    if (accessKeyId || secretAccessKey)
      throw denied(
        `${accessKeyId ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID"} is missing from the environment, though its other half is there`,
      );
    return readCredentialsFile(
      environment["AWS_SHARED_CREDENTIALS_FILE"] || join(homedir(), ".aws", "credentials"),
      environment["AWS_PROFILE"] || "default",
    );
  };
}

async function readCredentialsFile(path: string, profile: string): Promise<S3Credentials> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw denied(
      `no S3 credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them to ${path} (${(error as NodeJS.ErrnoException).code ?? "unreadable"})`,
    );
  }
  const section = sectionOf(text, profile);
  const accessKeyId = section.get("aws_access_key_id");
  const secretAccessKey = section.get("aws_secret_access_key");
  if (!accessKeyId || !secretAccessKey)
    throw denied(`${path} has no aws_access_key_id and aws_secret_access_key under [${profile}]`);
  return { accessKeyId, secretAccessKey, sessionToken: section.get("aws_session_token") || undefined };
}

/** The `name = value` lines under `[profile]`. */
function sectionOf(text: string, profile: string): Map<string, string> {
  const values = new Map<string, string>();
  let inside = false;
  for (const line of text.split(/\r?\n/)) {
    const header = /^\s*\[\s*(?:profile\s+)?(.*?)\s*\]/.exec(line);
    if (header !== null) inside = header[1] === profile;
    const pair = /^\s*([A-Za-z_]+)\s*=\s*(.*?)\s*$/.exec(line);
    if (inside && pair !== null) values.set(pair[1]!.toLowerCase(), pair[2]!);
  }
  return values;
}

function denied(message: string): ObjectError {
  return new ObjectError("OBJECT_DENIED", message);
}
