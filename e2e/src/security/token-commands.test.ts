/** Tokens from the command line, against a fleet of real processes with two gateways: made in the store and through a gateway, revoked through one of them, and dead at both. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../gateway/fleet.ts";
import { KeelsonProcess, stopAll } from "../process/keelson-process.ts";
import { startStore } from "../process/store-process.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-token-commands-"));
let store: string;
let gateways: readonly string[];

beforeAll(async () => {
  ({ url: store } = await startStore(join(folder, "store")));
  const node = new KeelsonProcess(["node", "--store", store, "--id", "a", "--ttl", "5s"]);
  await node.says(/member of the fleet/, 60_000);
  gateways = await Promise.all(
    ["one", "two"].map(async (name) => {
      const audit = join(folder, `${name}.jsonl`);
      const gateway = new KeelsonProcess([
        "gateway",
        "--store",
        store,
        "--listen",
        "127.0.0.1:0",
        "--tokens",
        "store",
        "--audit",
        audit,
      ]);
      return (await gateway.says(/listens on (http:\S+)/, 60_000))[1] ?? "";
    }),
  );
}, 150_000);

afterAll(async () => {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
});

/** What a command prints as JSON, or the line that it fails with. */
async function token(args: readonly string[], environment: Record<string, string>): Promise<unknown> {
  const process = new KeelsonProcess([...args, "--json"], environment);
  const code = await process.ended;
  return code === 0 ? (JSON.parse(process.stdout.join("\n")) as unknown) : process.stderr.join("\n");
}

const status = async (at: number, shown: string): Promise<number> => {
  const answer = await fetch(`${gateways[at]}/v1/fleet/status`, {
    headers: { authorization: `Bearer ${shown}` },
  });
  await answer.arrayBuffer();
  return answer.status;
};

test("the first token is made in the store, others through a gateway, and a revoked one is dead at both", async () => {
  const first = (await token(["token", "create", "ann", "--scope", "admin"], { KEELSON_STORE: store })) as {
    token: string;
  };
  for (const at of [0, 1])
    await until("the first token is taken", async () => (await status(at, first.token)) === 200);
  const one = { KEELSON_URL: gateways[0]!, KEELSON_TOKEN: first.token };
  const made = (await token(["token", "create", "ci", "--scope", "admin", "--expires", "12h"], one)) as {
    token: string;
    id: string;
  };
  for (const at of [0, 1])
    await until("the second token is taken", async () => (await status(at, made.token)) === 200);
  const listed = (await token(["token", "list"], one)) as { name: string }[];
  expect(listed.map(({ name }) => name).sort()).toEqual(["ann", "ci"]);

  expect(await token(["token", "revoke", "ci"], one)).toEqual({ revoked: made.id });
  expect(await status(0, made.token)).toBe(401);
  await until("the other gateway refuses it", async () => (await status(1, made.token)) === 401);

  expect(await token(["token", "revoke", "ci"], one)).toMatch(
    /has no token ci: keelson token list shows them/,
  );
  expect(await token(["token", "revoke", "ann"], one)).toMatch(/the last token that can make others/);
  expect(
    await token(["token", "create", "x"], { KEELSON_URL: gateways[0]!, KEELSON_TOKEN: made.token }),
  ).toMatch(/does not know this token/);
  expect(await token(["token", "create", "x", "--expires", "soon"], one)).toMatch(
    /--expires must be a length of time/,
  );
  const audit = (await token(["audit", "--who", "ann"], one)) as {
    entries: { action: string; outcome: string }[];
  };
  expect(audit.entries.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
    "fleet.revokeToken refused",
    "fleet.revokeToken done",
    "fleet.createToken done",
  ]);
  expect(await token(["token", "revoke", "ann", "--last"], one)).toMatchObject({
    revoked: expect.any(String) as string,
  });
  for (const at of [0, 1])
    await until("nobody is let in", async () => (await status(at, first.token)) === 401);
}, 120_000);
