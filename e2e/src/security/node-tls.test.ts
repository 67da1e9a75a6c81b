/** A fleet of real processes with mutual TLS between them: store, node and gateway talk; a node with a certificate of another authority is refused, and both sides say why. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificates, startEtcd } from "@keelson/testkit/servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../gateway/fleet.ts";
import { KeelsonProcess, stopAll } from "../process/keelson-process.ts";

let folder: string;
let ours: readonly string[];
let theirs: readonly string[];
let store: KeelsonProcess;
let storeUrl: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "keelson-node-tls-"));
  const flagsOf = (name: string): string[] => {
    const { ca, server } = makeCertificates(mkdtempSync(join(folder, name)));
    return ["--tls-ca", ca, "--tls-cert", server.cert, "--tls-key", server.key];
  };
  ours = flagsOf("ours-");
  theirs = flagsOf("theirs-");
  store = new KeelsonProcess(["store", join(folder, "store"), "--listen", "127.0.0.1:0", ...ours]);
  storeUrl = `embedded://${(await store.says(/is served at embedded:\/\/(\S+)/, 60_000))[1] ?? ""}`;
}, 120_000);

afterAll(async () => {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
});

const node = (id: string, at: string, tls: readonly string[]): KeelsonProcess =>
  new KeelsonProcess(["node", "--store", at, "--id", id, "--ttl", "5s", ...tls]);

test("store, node and gateway talk over TLS, and a node of another authority is refused by both", async () => {
  const a = node("a", storeUrl, ours);
  await a.says(/member of the fleet/, 60_000);
  const gateway = new KeelsonProcess([
    "gateway",
    "--store",
    storeUrl,
    "--listen",
    "127.0.0.1:0",
    ...ours.map((flag) => flag.replace(/^--tls-/, "--node-tls-")),
  ]);
  const url = (await gateway.says(/listens on (http:\S+)/, 60_000))[1] ?? "";
  await until("a request reaches the node", async () => {
    const answer = await fetch(`${url}/v1/fleet/nodes?reports=true`);
    const text = await answer.text();
    return answer.ok && text.includes('"pid"');
  });

  // The store itself is of the fleet: whoever it does not trust gets no further.
  const b = node("b", storeUrl, theirs);
  await b.endsWith(1);
  expect(b.all).toMatch(/the store and this node do not trust each other: .*certificate/);
  const plain = new KeelsonProcess(["status", "--store", storeUrl, "--json"]);
  await plain.ended;
  expect(plain.stdout.join("")).not.toContain("members");
  const seen = new KeelsonProcess(["status", "--store", storeUrl, "--json", ...ours]);
  await seen.endsWith(0);
  expect(JSON.parse(seen.stdout.join("\n"))).toMatchObject({ members: 1 });
}, 180_000);

test("where the store lets everybody in, the members themselves refuse a node of another authority", async () => {
  const etcd = await startEtcd({ electionMs: 100 });
  try {
    const at = `etcd://127.0.0.1:${etcd.port}`;
    const a = node("a", at, ours);
    await a.says(/member of the fleet/, 60_000);
    for (const [flags, why] of [
      [theirs, /node a and this one do not trust each other: .*certificate of 127\.0\.0\.1:\d+ is not taken/],
      [
        mixed(),
        /node a and this one do not trust each other: .*a refuses: the client's certificate is not taken/,
      ],
    ] as const) {
      const b = node("b", at, flags);
      await b.endsWith(1);
      expect(b.all).toMatch(why);
    }
    await until("the member has told, too", () =>
      /a connection from 127\.0\.0\.1:\d+ was refused: UNAUTHORISED: a refuses/.test(a.all),
    );
    const seen = new KeelsonProcess(["nodes", "--store", at, "--json", ...ours]);
    await seen.endsWith(0);
    expect(JSON.parse(seen.stdout.join("\n"))).toHaveLength(1);
    const good = node("c", at, ours);
    await good.says(/member of the fleet/, 60_000);
    good.signal("SIGTERM");
    a.signal("SIGTERM");
    await Promise.all([good.ended, a.ended]);
  } finally {
    await stopAll();
    await etcd.stop();
  }
}, 180_000);

/** Trusts our authority, and shows a certificate of another. */
function mixed(): string[] {
  const bundle = join(folder, "both.pem");
  writeFileSync(bundle, [ours[1], theirs[1]].map((path) => readFileSync(path ?? "", "utf8")).join(""));
  return theirs.with(1, bundle);
}
