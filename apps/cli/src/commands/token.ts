/**
 * `keelson token`: makes, lists and revokes bearer tokens, of a fleet that runs through its gateway, straight in its store, or in a token file. The text of a
 * token is shown once and kept nowhere.
 */
import { tokensInFile, tokensInStore, type TokenRecord } from "@keelson/gateway";
import { SystemClock, systemRandom } from "@keelson/runtime";
import { openStore } from "@keelson/stores/url";
import { Command, Option } from "commander";
import { doorOf, storeNamed, tlsOf, withDoor, type DoorOptions } from "../admin/door.ts";
import { gatewayDesk, keeperDesk, type ShownToken, type TokenDesk } from "../admin/token-desk.ts";
import { parseDurationMs } from "../config/duration.ts";
import { openTls, openedWith } from "../config/tls.ts";
import { RunError, UsageError } from "../failure.ts";
import { dateAndTime } from "../report/ago.ts";
import { Printer } from "../report/printer.ts";
import { table } from "../report/table.ts";

interface TokenOptions extends DoorOptions {
  readonly tokens?: string;
  readonly scope: TokenRecord["scope"];
  readonly service?: string;
  readonly tenant?: string;
  readonly expires?: string;
  readonly last?: boolean;
}

const VERBS = ["create", "list", "revoke"] as const;
const STORE_TIMEOUT_MS = 10_000;

export function tokenCommand(): Command {
  const command = withDoor(
    new Command("token")
      .argument("<verb>", VERBS.join(", "))
      .argument("[name]", "of the token to create, or its id or name to revoke")
      .addOption(new Option("--tokens <file>", "a token file, when the tokens are in one"))
      .addOption(
        new Option("--scope <scope>", "what it may do at most")
          .choices(["read", "write", "admin"])
          .default("read"),
      )
      .option("--service <names>", "only these services; several with commas")
      .option("--tenant <names>", "only these tenants; several with commas")
      .option("--expires <time>", "after which it is no longer good, e.g. 720h")
      .option("--last", "revoke it even if nobody can make tokens without it"),
  );
  return command.action(async (verb: string, name: string | undefined, options: TokenOptions) => {
    const print = new Printer(options.json === true);
    const work = workOf(verb, name, options, print);
    await atDesk(command, options, work);
  });
}

function workOf(
  verb: string,
  name: string | undefined,
  options: TokenOptions,
  print: Printer,
): (desk: TokenDesk) => Promise<void> {
  if (verb === "list") return (desk) => listTokens(desk, print);
  if (verb !== "create" && verb !== "revoke")
    throw new UsageError(`keelson token knows ${VERBS.join(", ")}, not "${verb}"`);
  if (name === undefined || name === "") throw new UsageError(`keelson token ${verb} needs the token's name`);
  if (verb === "revoke") return (desk) => revokeToken(desk, name, options, print);
  const lifeMs = options.expires === undefined ? undefined : parseDurationMs(options.expires);
  if (options.expires !== undefined && lifeMs === undefined)
    throw new UsageError(
      `--expires must be a length of time with its unit: 12h, 720h, not "${options.expires}"`,
    );
  return (desk) => createToken(desk, name, options, lifeMs, print);
}

async function atDesk(
  command: Command,
  options: TokenOptions,
  work: (desk: TokenDesk) => Promise<void>,
): Promise<void> {
  if (options.tokens !== undefined) return work(keeperDesk(tokensInFile(options.tokens), options.tokens));
  const url = storeNamed(command, options);
  if (url === undefined) return work(gatewayDesk(doorOf(options)));
  const clock = new SystemClock();
  const tls = openTls(tlsOf(options), { clock, say: () => undefined, problem: () => undefined });
  const ports = { clock, random: systemRandom, name: "keelson token", ...tls?.client };
  const store = await openedWith(tls, openStore(url, ports));
  try {
    await work(
      keeperDesk(tokensInStore(store, options.fleet ?? "main", STORE_TIMEOUT_MS), "the fleet's store"),
    );
  } finally {
    tls?.stop();
    await store.close();
  }
}

async function createToken(
  desk: TokenDesk,
  name: string,
  { scope, service, tenant }: TokenOptions,
  expiresInMs: number | undefined,
  print: Printer,
): Promise<void> {
  const { token, created } = await desk.create({
    name,
    scope,
    ...(service === undefined ? {} : { services: service.split(",") }),
    ...(tenant === undefined ? {} : { tenants: tenant.split(",") }),
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
  });
  print.show({ token, id: created.id, place: desk.place }, () =>
    [
      token,
      `it is shown this once; ${desk.place} keeps only its hash. Give it to commands as KEELSON_TOKEN`,
    ].join("\n"),
  );
}

async function listTokens(desk: TokenDesk, print: Printer): Promise<void> {
  const known = await desk.list();
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

async function revokeToken(
  desk: TokenDesk,
  name: string,
  { last = false }: TokenOptions,
  print: Printer,
): Promise<void> {
  const { id } = chosen(await desk.list(), name, desk.place);
  await desk.revoke(id, { last });
  print.show({ revoked: id }, () => `token ${id} is revoked: it works nowhere any more`);
}

/** By id, or by a name that only one has: revoking the wrong one cannot be undone. */
function chosen(tokens: readonly ShownToken[], name: string, place: string): ShownToken {
  const found = tokens.filter((token) => token.id === name);
  if (found.length === 0) found.push(...tokens.filter((token) => token.name === name));
  const [token, another] = found;
  if (!token) throw new RunError(`${place} has no token ${name}: keelson token list shows them`);
  if (another)
    throw new RunError(
      `${found.length} tokens are called ${name}: say which by its id, ${found.map(({ id }) => id).join(" or ")}`,
    );
  return token;
}
