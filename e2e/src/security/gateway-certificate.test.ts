/** The certificate that a gateway shows to its callers, replaced while it runs: new connections see the new one, open ones go on, and a broken pair changes nothing. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import type { Gateway } from "@keelson/gateway";
import { makeCertificates } from "@keelson/testkit/servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { GatewayFleet, until } from "../gateway/fleet.ts";
import { scriptedPlugin } from "../gateway/scripted-plugin.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-gateway-certificate-"));
const files = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
let old: ReturnType<typeof makeCertificates>;
let fresh: ReturnType<typeof makeCertificates>;
let fleet: GatewayFleet;
let gateway: Gateway;

beforeAll(async () => {
  old = makeCertificates(mkdtempSync(join(folder, "old-")));
  fresh = makeCertificates(mkdtempSync(join(folder, "fresh-")));
  copyFileSync(old.server.cert, files.certFile);
  copyFileSync(old.server.key, files.keyFile);
  fleet = await GatewayFleet.start({ nodes: 1, plugins: [scriptedPlugin] });
  gateway = await fleet.startGateway({ tls: files, grpcListen: { host: "127.0.0.1", port: 0 } });
}, 60_000);

afterAll(async () => {
  await gateway.stop({ graceMs: 0 });
  await fleet.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The status, and which certificate was shown; the reason when it was not trusted. */
function ask(ca: string, agent?: Agent): Promise<{ status: number; shown: string } | string> {
  return new Promise((resolve) => {
    const asked = request(
      `${gateway.url}/healthz`,
      { ca: readFileSync(ca), ...(agent ? { agent } : { agent: false }) },
      (answer) => {
        const { fingerprint256: shown } = (answer.socket as TLSSocket).getPeerCertificate();
        answer.resume().on("end", () => resolve({ status: answer.statusCode ?? 0, shown }));
      },
    );
    asked.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    asked.end();
  });
}

/** The certificate that the gRPC port shows; the reason when it is not trusted. */
function shownByGrpc(ca: string): Promise<string> {
  const port = Number(gateway.grpcAddress?.split(":").at(-1));
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, ca: readFileSync(ca), ALPNProtocols: ["h2"] }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

test("a certificate is taken when it is replaced, and an open connection goes on with the one it has", async () => {
  const kept = new Agent({ keepAlive: true, maxSockets: 1 });
  const before = await ask(old.ca, kept);
  expect(before).toMatchObject({ status: 200 });
  expect(await shownByGrpc(old.ca)).toBe((before as { shown: string }).shown);
  // A key without its certificate fits nothing: the old pair stays, and it is said.
  copyFileSync(fresh.server.key, files.keyFile);
  await until("the key that does not fit was noticed", () =>
    fleet.logged.some((line) => line.includes("certificate of the gateway was not taken")),
  );
  expect(await ask(old.ca)).toMatchObject({ status: 200 });
  expect(await shownByGrpc(old.ca)).toBe((before as { shown: string }).shown);
  copyFileSync(fresh.server.cert, files.certFile);
  await until("the new one is shown", async () => typeof (await ask(fresh.ca)) === "object");
  expect(typeof (await ask(old.ca))).toBe("string");
  const { shown } = (await ask(fresh.ca)) as { shown: string };
  await until("the gRPC port shows it too", async () => (await shownByGrpc(fresh.ca)) === shown);
  expect(await ask(old.ca, kept)).toEqual(before);
  kept.destroy();
  expect(fleet.logged.join("\n")).not.toContain("PRIVATE KEY");
}, 60_000);
