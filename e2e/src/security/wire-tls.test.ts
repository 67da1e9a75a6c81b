/** Mutual TLS on the wire, with certificates of two authorities made on the spot: who is let in, what both sides are told, and new files while calls run. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SystemClock, systemRandom } from "@keelson/runtime";
import { makeCertificates } from "@keelson/testkit/servers";
import { WireClient, WireServer, WireTls, type CertificateFiles } from "@keelson/wire";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { until } from "../gateway/fleet.ts";

const clock = new SystemClock();
const ends: (() => unknown)[] = [];
let folder: string;
let ours: CertificateFiles;
let theirs: CertificateFiles;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keelson-wire-tls-"));
  const make = (name: string): CertificateFiles => {
    const place = mkdtempSync(join(folder, name));
    const { ca, server } = makeCertificates(place);
    return { caFile: ca, certFile: server.cert, keyFile: server.key };
  };
  ours = make("ours-");
  theirs = make("theirs-");
}, 60_000);
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Told {
  readonly ends: string[];
  readonly strangers: string[];
  readonly reloads: number[];
  readonly problems: string[];
}

function tlsOf(files: CertificateFiles, told?: Told, name?: string): WireTls {
  const tls = new WireTls({
    ...files,
    name,
    clock,
    onProblem: (problem) => void told?.problems.push(problem),
    onReload: () => void told?.reloads.push(1),
    onStranger: (_, reason) => void told?.strangers.push(reason),
  });
  ends.push(() => tls.stop());
  return tls;
}

const nothingTold = (): Told => ({ ends: [], strangers: [], reloads: [], problems: [] });

async function serve(tls: WireTls, told: Told): Promise<WireServer> {
  const server = new WireServer({
    clock,
    name: "a",
    ...tls.server,
    onConnectionEnd: (_, { message }) => void told.ends.push(message),
  });
  server.method("echo", ({ body }) => Promise.resolve(body));
  await server.listen({ host: "127.0.0.1", port: 0 });
  ends.push(() => server.close({ graceMs: 0 }));
  return server;
}

function clientOf(address: string, tls?: WireTls): WireClient {
  const client = new WireClient(address, { clock, random: systemRandom, name: "b", ...tls?.client });
  ends.push(() => client.close());
  return client;
}

const failureOf = (client: WireClient): Promise<string> =>
  client.call("echo", 1, { timeoutMs: 10_000 }).then(
    () => "no failure",
    (error: unknown) => (error as Error).message,
  );

test("two sides with certificates of one authority talk", async () => {
  const server = await serve(tlsOf(ours), nothingTold());
  const client = clientOf(server.address, tlsOf(ours));
  const large = "x".repeat(1_000_000);
  expect(await client.call("echo", { large }, { timeoutMs: 10_000 })).toEqual({ large });
});

test("a client of another authority trusts no server, and says whose certificate it is about", async () => {
  const told = nothingTold();
  const server = await serve(tlsOf(ours, told), told);
  const problem = await failureOf(clientOf(server.address, tlsOf(theirs)));
  expect(problem).toContain(`the certificate of ${server.address} is not taken`);
  expect(problem).toContain("fleet's authority");
});

test("a server tells a client why its certificate is not taken, says so itself, and carries nothing out", async () => {
  const told = nothingTold();
  let called = 0;
  const server = await serve(tlsOf(ours, told), told);
  server.method("count", () => Promise.resolve((called += 1)));
  // It trusts our authority, as one would that has only the public part, and shows a certificate of another.
  const bundle = join(folder, "both-authorities.pem");
  writeFileSync(bundle, readFileSync(ours.caFile, "utf8") + readFileSync(theirs.caFile, "utf8"));
  const client = clientOf(server.address, tlsOf({ ...theirs, caFile: bundle }));
  const problem = await client.call("count", 1, { timeoutMs: 10_000 }).then(
    () => "no failure",
    (error: unknown) => (error as Error).message,
  );
  expect(problem).toMatch(/UNAUTHORISED: a refuses: the client's certificate is not taken/);
  await until("the server has told", () => told.ends.length > 0);
  expect(told.ends.join("\n")).toContain("the client's certificate is not taken");
  expect(called).toBe(0);
});

test("who speaks no TLS is not let in, and a client with TLS trusts no server without", async () => {
  const told = nothingTold();
  const server = await serve(tlsOf(ours, told), told);
  expect(await failureOf(clientOf(server.address))).toMatch(/no connection to/);
  const [host = "", port = ""] = server.address.split(":");
  const socket = createConnection({ host, port: Number(port) });
  ends.push(() => socket.destroy());
  socket.on("error", () => undefined);
  socket.end("GET / HTTP/1.1\r\n\r\n");
  await until("the server has told", () => told.strangers.length >= 2);
  expect(told.strangers[0]).toContain("did not complete a TLS handshake");
  const plain = new WireServer({ clock, name: "plain" });
  await plain.listen({ host: "127.0.0.1", port: 0 });
  ends.push(() => plain.close({ graceMs: 0 }));
  expect(await failureOf(clientOf(plain.address, tlsOf(ours)))).toMatch(/no connection to/);
});

test("with a name, a certificate must bear it on both sides", async () => {
  const server = await serve(tlsOf(ours, undefined, "localhost"), nothingTold());
  const named = clientOf(server.address, tlsOf(ours, undefined, "localhost"));
  expect(await named.call("echo", 2, { timeoutMs: 10_000 })).toBe(2);
  expect(await failureOf(clientOf(server.address, tlsOf(ours, undefined, "fleet.example")))).toContain(
    "bear the name fleet.example",
  );
  const strict = await serve(tlsOf(ours, undefined, "fleet.example"), nothingTold());
  expect(await failureOf(clientOf(strict.address, tlsOf(ours)))).toContain(
    "does not bear the name fleet.example",
  );
});

test("new files hold for new connections, broken ones for none, and open connections stay", async () => {
  const told = nothingTold();
  const files: CertificateFiles = {
    caFile: join(folder, "live-ca.pem"),
    certFile: join(folder, "live-cert.pem"),
    keyFile: join(folder, "live-key.pem"),
  };
  const put = (from: CertificateFiles): void => {
    copyFileSync(from.keyFile, files.keyFile);
    copyFileSync(from.certFile, files.certFile);
    copyFileSync(from.caFile, files.caFile);
  };
  put(ours);
  const server = await serve(tlsOf(files, told), told);
  const early = clientOf(server.address, tlsOf(ours));
  expect(await early.call("echo", 1, { timeoutMs: 10_000 })).toBe(1);
  copyFileSync(theirs.keyFile, files.keyFile);
  await until("the key that does not fit was noticed", () => told.problems.length > 0);
  expect(told.problems[0]).toContain("is not that of the certificate");
  expect(await clientOf(server.address, tlsOf(ours)).call("echo", 2, { timeoutMs: 10_000 })).toBe(2);
  put(theirs);
  await until("the new files were taken", () => told.reloads.length > 0);
  expect(await early.call("echo", 3, { timeoutMs: 10_000 })).toBe(3);
  expect(await clientOf(server.address, tlsOf(theirs)).call("echo", 4, { timeoutMs: 10_000 })).toBe(4);
  expect(await failureOf(clientOf(server.address, tlsOf(ours)))).toContain("is not taken");
  expect(server.stats.connections).toBeGreaterThanOrEqual(2);
});

test("files that do not fit each other are refused by name, and the key is never quoted", () => {
  const wrong = (files: CertificateFiles): string => {
    try {
      tlsOf(files);
      return "taken";
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(wrong({ ...ours, caFile: theirs.caFile })).toMatch(/is not of the authority in/);
  expect(wrong({ ...ours, keyFile: theirs.keyFile })).toMatch(/is not that of the certificate/);
  expect(wrong({ ...ours, certFile: ours.keyFile })).toMatch(/has no certificate: it must be PEM/);
  expect(wrong({ ...ours, caFile: join(folder, "none.pem") })).toMatch(/none\.pem|ENOENT/);
  const junk = join(folder, "junk.key");
  writeFileSync(junk, "-----BEGIN PRIVATE KEY-----\nc2VjcmV0LXdvcmQ=\n-----END PRIVATE KEY-----\n");
  expect(wrong({ ...ours, keyFile: junk })).toMatch(/has no private key that can be read/);
  expect(wrong({ ...ours, keyFile: junk })).not.toContain("c2VjcmV0");
});
