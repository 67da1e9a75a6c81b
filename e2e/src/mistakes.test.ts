import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificates } from "@keelson/testkit/servers";
import { afterAll, describe, expect, test, vi } from "vitest";
import { KeelsonProcess, stopAll } from "./process/keelson-process.ts";
import { startStore } from "./process/store-process.ts";

// All of them start at once, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const folder = mkdtempSync(join(tmpdir(), "keelson-mistakes-"));
afterAll(async () => {
  await stopAll();
  rmSync(folder, { recursive: true });
});

const NOWHERE = "embedded://127.0.0.1:1";
const typo = join(folder, "typo.toml");
writeFileSync(typo, `id = "a"\nstor = "${NOWHERE}"\n`);
const broken = join(folder, "broken.toml");
writeFileSync(broken, "id = a");
const empty = join(folder, "empty.mjs");
writeFileSync(empty, "export const service = 1;");
const throwing = join(folder, "throwing.mjs");
writeFileSync(throwing, 'throw new Error("no licence\\nno service");');

/** Runs a command that must fail, and returns its one line. */
async function refused(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<{ line: string; code: number }> {
  const child = new KeelsonProcess(args, environment);
  const code = await child.ended;
  expect(child.stderr).toEqual([expect.any(String)]);
  expect(child.all).not.toMatch(/^\s+at /m);
  return { line: child.stderr[0] ?? "", code };
}

describe.concurrent("what is not understood is one line that says what to do, and exit code 2", () => {
  test.each<[string, string[], RegExp, Record<string, string>?]>([
    ["a command", ["nod"], /unknown command 'nod' \(Did you mean node\?\)/],
    ["a flag", ["node", "--stroe", "x"], /unknown option '--stroe' \(Did you mean --store\?\)/],
    ["a missing folder", ["store"], /no data is given: use --data <folder>/],
    [
      "a kind of store",
      ["node", "--id", "a", "--store", "mysql://x"],
      /--store: unknown store "mysql:".*: write .*embedded:/,
    ],
    [
      "a node without an id",
      ["node", "--store", NOWHERE],
      /no id is given: use --id <name>, KEELSON_ID or id in a config file/,
    ],
    [
      "a key of the config file",
      ["node", "--config", typo],
      /typo\.toml: unknown key stor \(did you mean store\?\)/,
    ],
    ["a config file", ["node", "--config", broken], /broken\.toml:1:6: not TOML/],
    [
      "a variable",
      ["node"],
      /unknown variable KEELSON_STROE .*did you mean KEELSON_STORE\?/,
      { KEELSON_STROE: "x" },
    ],
    [
      "a service",
      ["node", "--id", "a", "--store", NOWHERE, "--service", "ehco"],
      /unknown service ehco \(did you mean echo\?\)/,
    ],
    [
      "a module without a service",
      ["node", "--id", "a", "--store", NOWHERE, "--service", empty],
      /empty\.mjs has no service as its default export/,
    ],
    ["a length of time", ["demo", "--ttl", "2"], /--ttl must be a length of time/],
  ])("%s", async (_, args, message, environment) => {
    const { line, code } = await refused(args, environment);
    expect(line).toMatch(message);
    expect(line).toMatch(/^keelson: /);
    expect(code).toBe(2);
  });
});

describe.concurrent("what stands in the way is one line that says what to do, and exit code 1", () => {
  test("a store whose data is damaged", async () => {
    const store = join(folder, "damaged-store");
    mkdirSync(store);
    writeFileSync(join(store, "data.mdb"), "not a database".repeat(1_000));
    const { line, code } = await refused(["store", store, "--listen", "127.0.0.1:0"]);
    expect(line).toMatch(
      /data\.mdb is damaged or not a store of ours .*: put a backup in its place, or name another folder/,
    );
    expect(code).toBe(1);
  });

  test("a data folder whose note is damaged", async () => {
    const data = join(folder, "damaged-node");
    mkdirSync(data);
    writeFileSync(join(data, "node.json"), "{");
    const { line, code } = await refused(["node", "--id", "a", "--store", NOWHERE, "--data", data]);
    expect(line).toMatch(/node\.json is damaged or not a node's note: remove it/);
    expect(code).toBe(1);
  });

  test("a store's folder that another process has", async () => {
    const store = join(folder, "held-store");
    const { process: holder } = await startStore(store);
    // With TLS as well: whoever looks at certificates must not keep the process from ending.
    const { ca, server } = makeCertificates(mkdtempSync(join(folder, "certificates-")));
    const tls = ["--tls-ca", ca, "--tls-cert", server.cert, "--tls-key", server.key];
    const outcomes = await Promise.all(
      [[], tls].map((flags) => refused(["store", store, "--listen", "127.0.0.1:0", ...flags])),
    );
    for (const { line, code } of outcomes) {
      expect(line).toMatch(
        /held-store is held by pid \d+ \(main\.js store\) since .*: stop that process, or name another folder/,
      );
      expect(code).toBe(1);
    }
    holder.signal("SIGTERM");
    await holder.endsWith(0);
  });

  test("a port in use", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const listen = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
    const outcomes = await Promise.all([
      refused(["store", join(folder, "no-port"), "--listen", listen]),
      refused(["node", "--id", "a", "--store", NOWHERE, "--listen", listen]),
    ]);
    taken.close();
    const line = `keelson: ${listen} is in use: stop what listens there, or choose another address with --listen`;
    expect(outcomes).toEqual([
      { line, code: 1 },
      { line, code: 1 },
    ]);
  });

  test("a certificate of a gateway that is not there", async () => {
    const tokens = join(folder, "tokens.json");
    writeFileSync(tokens, '{"tokens": []}');
    const nope = join(folder, "nope.pem");
    const flags = ["--tokens", tokens, "--tls-cert", nope, "--tls-key", nope];
    const { line, code } = await refused([
      "gateway",
      "--store",
      NOWHERE,
      "--listen",
      "127.0.0.1:0",
      ...flags,
    ]);
    expect(line).toMatch(/the certificate .*nope\.pem with the key .*nope\.pem cannot be used: ENOENT/);
    expect(code).toBe(2);
  });

  test("a service module that fails", async () => {
    const { line, code } = await refused(["node", "--id", "a", "--store", NOWHERE, "--service", throwing]);
    expect(line).toMatch(/throwing\.mjs cannot be loaded: Error: no licence no service$/);
    expect(code).toBe(1);
  });
});

test("help and version are no mistakes", async () => {
  const children = [["--help"], ["node", "--help"], ["--version"], []].map(
    (args) => new KeelsonProcess(args),
  );
  for (const child of children) {
    await child.endsWith(0);
    expect(child.stderr).toEqual([]);
    expect(child.stdout.length).toBeGreaterThan(0);
  }
});
