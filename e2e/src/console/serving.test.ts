import { afterAll, beforeAll, expect, test } from "vitest";
import { GatewayFleet } from "../gateway/fleet.ts";
import { buildConsole } from "./browser.ts";

let fleet: GatewayFleet;

beforeAll(async () => {
  buildConsole();
  fleet = await GatewayFleet.start({ nodes: 1 });
}, 60_000);
afterAll(() => fleet.stop());

const HTML = { accept: "text/html,application/xhtml+xml" };

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(fleet.gateway.url + path, { headers, redirect: "manual" });
}

test("a browser is led to the console, a program is told that nothing is there", async () => {
  const browser = await get("/", HTML);
  expect([browser.status, browser.headers.get("location")]).toEqual([302, "/console/"]);
  expect((await get("/console", HTML)).headers.get("location")).toBe("/console/");
  expect((await get("/")).status).toBe(404);
});

test("the page runs only our own scripts and styles, and cannot be framed", async () => {
  const page = await get("/console/");
  expect(page.status).toBe(200);
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|data:|\*/);
  expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  const text = await page.text();
  expect(text).not.toMatch(/<script(?![^>]*\bsrc=)/);
  expect(text).not.toMatch(/<style|\sstyle=|\son[a-z]+=|https?:\/\//);
});

test("files that are named by their content are kept for ever, the page is asked for again", async () => {
  const page = await get("/console/");
  const [, script = ""] = /src="(\/console\/assets\/[^"]+\.js)"/.exec(await page.text()) ?? [];
  const file = await get(script);
  expect(file.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(file.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(file.headers.get("content-encoding")).toBe("gzip");
  expect((await file.text()).length).toBeGreaterThan(1_000);
  expect(page.headers.get("cache-control")).toBe("no-cache");
  const again = await get("/console/", { "if-none-match": page.headers.get("etag") ?? "" });
  expect([again.status, await again.text()]).toEqual([304, ""]);
});

test("an address of a page is the page, a file that there is not is an error, and nothing else can be read", async () => {
  const page = await (await get("/console/")).text();
  expect(await (await get("/console/nodes/a")).text()).toBe(page);
  expect((await get("/console/assets/gone-12345678.js")).status).toBe(404);
  for (const path of [
    "/console/..%2f..%2fpackage.json",
    "/console/assets/%2e%2e/%2e%2e/%2e%2e/package.json",
  ]) {
    const text = await (await get(path)).text();
    expect(text).not.toContain('"dependencies"');
  }
  expect(await (await get("/console/.built-from")).text()).toBe(page);
});

test("says who the token is, which services it may use, and where their pages read", async () => {
  const session = await fleet.get("/v1/console");
  expect(session.status).toBe(200);
  expect(session.body).toMatchObject({
    fleet: "test",
    tokens: false,
    principal: { name: "anyone", scope: "admin" },
    services: [{ name: "counter", pages: [{ id: "counters", reads: [{ path: "/v1/counter" }] }] }],
  });
});
