/** `keelson token`: makes, lists and revokes the bearer tokens in a gateway's token file. The text of a token is shown once and kept nowhere. */
import { createToken, readTokenFile, writeTokenFile, type TokenRecord } from "@keelson/gateway";
import { Command, Option } from "commander";
import { parseDurationMs } from "../config/duration.ts";
import { RunError, UsageError } from "../failure.ts";
import { dateAndTime } from "../report/ago.ts";
import { Printer } from "../report/printer.ts";
import { table } from "../report/table.ts";

interface TokenOptions {
  readonly tokens: string;
  readonly scope: TokenRecord["scope"];
  readonly service?: string;
  readonly tenant?: string;
  readonly expires?: string;
  readonly json?: boolean;
}

const VERBS = ["add", "list", "remove"] as const;

export function tokenCommand(): Command {
  return new Command("token")
    .argument("<verb>", VERBS.join(", "))
    .argument("[name]", "of the token to add, or its id or name to remove")
    .addOption(
      new Option("--tokens <file>", "the token file").env("KEELSON_TOKENS").default("keelson-tokens.json"),
    )
    .addOption(
      new Option("--scope <scope>", "what it may do at most")
        .choices(["read", "write", "admin"])
        .default("read"),
    )
    .option("--service <names>", "only these services; several with commas")
    .option("--tenant <names>", "only these tenants; several with commas")
    .option("--expires <time>", "after which it is no longer good, e.g. 720h")
    .option("--json", "print JSON, for programs")
    .action(async (verb: string, name: string | undefined, options: TokenOptions) => {
      const print = new Printer(options.json === true);
      if (verb === "list") await listTokens(options, print);
      else if (verb === "add") await addToken(options, named(verb, name), print);
      else if (verb === "remove") await removeToken(options, named(verb, name), print);
      else throw new UsageError(`keelson token knows ${VERBS.join(", ")}, not "${verb}"`);
    });
}

function named(verb: string, name: string | undefined): string {
  if (name !== undefined && name !== "") return name;
  throw new UsageError(`keelson token ${verb} needs the token's name`);
}

async function addToken(options: TokenOptions, name: string, print: Printer): Promise<void> {
  const { scope, service, tenant, expires, tokens: file } = options;
  const lifeMs = expires === undefined ? undefined : parseDurationMs(expires);
  if (expires !== undefined && lifeMs === undefined)
    throw new UsageError(`--expires must be a length of time with its unit: 12h, 720h, not "${expires}"`);
  const now = Date.now();
  const known = await read(file, true);
  const { token, record } = createToken(
    {
      name,
      scope,
      ...(service === undefined ? {} : { services: service.split(",") }),
      ...(tenant === undefined ? {} : { tenants: tenant.split(",") }),
      ...(lifeMs === undefined ? {} : { expiresAt: now + lifeMs }),
    },
    now,
  );
  await writeTokenFile(file, [...known, record]);
  print.show({ token, id: record.id, file }, () =>
    [token, `it is shown this once; ${file} keeps only its hash. Give it to commands as KEELSON_TOKEN`].join(
      "\n",
    ),
  );
}

async function listTokens({ tokens: file }: TokenOptions, print: Printer): Promise<void> {
  const known = (await read(file, false)).map(({ sha256: _, ...shown }) => shown);
  print.show(known, () =>
    known.length === 0
      ? "no tokens"
      : table(
          [
            { title: "ID", text: ({ id }) => id },
            { title: "NAME", text: ({ name }) => name, flexible: true },
            { title: "SCOPE", text: ({ scope }) => scope },
            { title: "SERVICES", text: ({ services }) => services?.join(",") ?? "all", flexible: true },
            { title: "TENANTS", text: ({ tenants }) => tenants?.join(",") ?? "all", flexible: true },
            {
              title: "EXPIRES",
              text: ({ expiresAt }) => (expiresAt === undefined ? "never" : dateAndTime(expiresAt)),
            },
          ],
          known,
        ),
  );
}

async function removeToken({ tokens: file }: TokenOptions, name: string, print: Printer): Promise<void> {
  const known = await read(file, false);
  const left = known.filter((record) => record.id !== name && record.name !== name);
  const removed = known.length - left.length;
  if (removed === 0) throw new RunError(`${file} has no token ${name}: keelson token list shows them`);
  await writeTokenFile(file, left);
  print.show(
    { removed },
    () => `${removed} ${removed === 1 ? "token is" : "tokens are"} revoked; gateways notice within a second`,
  );
}

/** A file that is not there is an empty one, when it is about to be made. */
async function read(file: string, make: boolean): Promise<TokenRecord[]> {
  try {
    return await readTokenFile(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw new RunError(message, { cause: error });
    if (make) return [];
    throw new RunError(`there is no token file ${file}: name it with --tokens`, { cause: error });
  }
}
