import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadConfig, type ConfigSources } from "./load.ts";
import type { ConfigOf } from "./settings.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

const store = "embedded://127.0.0.1:7400";

function file(text: string): string {
  const path = join(folder, "node.toml");
  writeFileSync(path, text);
  return path;
}

function load(sources: Partial<ConfigSources>): ConfigOf<"node"> {
  return loadConfig("node", { environment: {}, flags: {}, ...sources }).config;
}

test("flags win over the environment, and the environment over the file", () => {
  const path = file(`id = "from-file"\nzone = "from-file"\nfleet = "from-file"\nstore = "${store}"`);
  const environment = { KEELSON_ID: "from-environment", KEELSON_ZONE: "from-environment" };
  const config = load({ file: path, environment, flags: { id: "from-flag" } });
  expect(config).toMatchObject({ id: "from-flag", zone: "from-environment", fleet: "from-file" });
});

test("what is not said has a default, and numbers and times may come as text", () => {
  const environment = { KEELSON_TTL: "2s", KEELSON_CAPACITY: "0.5", PATH: "/bin" };
  const config = load({ environment, flags: { id: "a", store } });
  expect(config).toEqual({
    id: "a",
    store,
    fleet: "main",
    listen: "127.0.0.1:0",
    ttl: 2_000,
    capacity: 0.5,
    service: ["echo"],
    shards: 12,
    address: undefined,
    zone: undefined,
    data: undefined,
    shared: undefined,
    objects: undefined,
    otlp: undefined,
    log: "warn",
  });
});

test("a file may list services", () => {
  const path = file(`service = ["echo", "./mine.js"]`);
  expect(load({ file: path, flags: { id: "a", store } }).service).toEqual(["echo", "./mine.js"]);
  expect(load({ flags: { id: "a", store, service: "echo, ./mine.js" } }).service).toEqual([
    "echo",
    "./mine.js",
  ]);
});

test("what Kubernetes adds for a Service of our name is not ours", () => {
  const environment = {
    KEELSON_SERVICE_HOST: "10.0.0.1",
    KEELSON_SERVICE_PORT: "7400",
    KEELSON_PORT: "tcp://10.0.0.1:7400",
    KEELSON_STORE_PORT_7400_TCP_ADDR: "10.0.0.1",
  };
  expect(load({ environment, flags: { id: "a", store } }).id).toBe("a");
});

const good = `id = "a"\nstore = "${store}"\n`;

test.each([
  ["a key of the file", { text: `${good}tll = "2s"` }, /node\.toml: unknown key tll \(did you mean ttl\?\)/],
  ["a variable", { environment: { KEELSON_STROE: "x" } }, /KEELSON_STROE .*\(did you mean KEELSON_STORE\?\)/],
])(
  "an unknown name of %s is an error that says what was meant",
  (_, { text, environment = {} }: { text?: string; environment?: Record<string, string> }, message) => {
    expect(() => load({ file: file(text ?? good), environment })).toThrow(message);
  },
);

test.each([
  [
    "no file",
    { file: "/nowhere/x.toml" },
    "config file /nowhere/x.toml cannot be read: there is no such file",
  ],
  ["no id", { flags: { store } }, "no id is given: use --id <name>, KEELSON_ID or id in a config file"],
  [
    "a bare number",
    { flags: { id: "a", store, ttl: "10" } },
    '--ttl must be a length of time with its unit: 500ms, 10s, 2m, not "10"',
  ],
  ["a short TTL", { flags: { id: "a", store, ttl: "10ms" } }, '--ttl must be from 500ms to 10m, not "10ms"'],
  ["a bad store", { flags: { id: "a", store: "mysql://x" } }, /^--store: unknown store "mysql:"/],
  [
    "a bad address",
    { flags: { id: "a", store, listen: "7400" } },
    '--listen: address "7400" must look like host:port or [::1]:port',
  ],
  [
    "a bad number",
    { environment: { KEELSON_CAPACITY: "much" }, flags: { id: "a", store } },
    'KEELSON_CAPACITY must be a number from 0 to 1000, not "much"',
  ],
  [
    "half a shard",
    { flags: { id: "a", store, shards: "1.5" } },
    '--shards must be a whole number from 1 to 100000, not "1.5"',
  ],
  ["a bad name", { flags: { id: "a b", store } }, /^--id: node id "a b" must be 1 to 63 letters/],
])("%s is refused with one line", (_, sources: Partial<ConfigSources>, message) => {
  expect(() => load(sources)).toThrow(message);
});

test("text that is not TOML is refused with its place", () => {
  expect(() => load({ file: file('id = "a"\nttl = ten') })).toThrow(/node\.toml:2:\d+: not TOML: /);
});

test("a section of the command wins over the top of the file, and those of others are checked too", () => {
  const path = file(
    `${good}listen = "127.0.0.1:1"\n[node]\nlisten = "127.0.0.1:2"\n[gateway]\ninsecure = true`,
  );
  expect(load({ file: path }).listen).toBe("127.0.0.1:2");
  expect(() => load({ file: file(`${good}[gateway]\ninsecur = true`) })).toThrow(
    /\[gateway\]: unknown key insecur \(did you mean insecure\?\)/,
  );
});

test("sections of services are handed on as they are", () => {
  const path = file(`${good}[counter]\nshards = 5`);
  const { sections } = loadConfig("node", { file: path, environment: {}, flags: {} });
  expect(sections["counter"]?.values).toEqual({ shards: 5 });
});

test("a variable of another command is let pass, and settings with dashes have variables with underscores", () => {
  const environment = {
    KEELSON_TLS_CERT: "c.pem",
    KEELSON_URL: "http://x",
    KEELSON_TOKEN: "t",
    KEELSON_INSECURE: "true",
  };
  expect(load({ environment, flags: { id: "a", store } }).id).toBe("a");
  const { config } = loadConfig("gateway", { environment, flags: { store, grpcListen: "127.0.0.1:0" } });
  expect(config).toMatchObject({ "tls-cert": "c.pem", insecure: true, "grpc-listen": "127.0.0.1:0" });
});
