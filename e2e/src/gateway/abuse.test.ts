/**
 * Thousands of requests that should not be, against a gateway in a process of its own: 1,500 in `npm test`, as many as KEELSON_ABUSE_REQUESTS
 * says otherwise. Chance comes from a printed seed.
 */
import { fork, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROBLEMS, createToken, writeTokenFile } from "@keelson/gateway";
import { afterAll, beforeAll, expect, test } from "vitest";
import { abuses, slowAbuses, type Abuse, type AbuseTokens } from "./abuse.ts";
import type { AbusedSaid } from "./abused-process.ts";
import { until } from "./fleet.ts";

const REQUESTS = Number(process.env["KEELSON_ABUSE_REQUESTS"] ?? 1_500);
const AT_ONCE = 32;
/** What a process may hold more after the abuse than after its beginning. A leak of 1 KiB a request would be seen at ten thousand. */
const GROWTH_BYTES_MAX = 12 * 1024 * 1024;
const ANSWER_WITHIN_MS = 30_000;

let folder: string;
let child: ChildProcess;
let url: URL;
let tokens: AbuseTokens;
/** Everything that came out of the process. */
let printed = "";
let answers = "";
/** What must never come out. */
const secrets: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "keelson-abuse-"));
  const make = (wanted: Parameters<typeof createToken>[0]) => {
    const made = createToken(wanted, Date.now());
    secrets.push(made.token.slice(-43), made.record.sha256);
    return made;
  };
  const made = {
    admin: make({ name: "admin", scope: "admin" }),
    read: make({ name: "reader", scope: "read" }),
    tenant: make({ name: "tenant", scope: "admin", tenants: ["one"] }),
    otherService: make({ name: "other", scope: "admin", services: ["jobs"] }),
    expired: make({ name: "old", scope: "admin", expiresAt: 1 }),
  };
  tokens = {
    admin: made.admin.token,
    read: made.read.token,
    tenant: made.tenant.token,
    otherService: made.otherService.token,
    expired: made.expired.token,
  };
  const file = join(folder, "tokens.json");
  await writeTokenFile(
    file,
    Object.values(made).map(({ record }) => record),
  );
  child = fork(join(import.meta.dirname, "abused-process.ts"), [file], {
    execArgv: ["--import", "tsx", "--conditions=source", "--expose-gc"],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
    });
  const said = await hear("serving");
  url = new URL(said.url);
}, 120_000);

afterAll(async () => {
  if (child.connected) child.disconnect();
  child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function hear<Kind extends AbusedSaid["kind"]>(kind: Kind): Promise<AbusedSaid & { readonly kind: Kind }> {
  return new Promise((resolve, reject) => {
    child.once("exit", (code, signal) => reject(new Error(`it ended with ${code ?? signal}: ${printed}`)));
    child.on("message", function listen(said) {
      if ((said as AbusedSaid).kind !== kind) return;
      child.off("message", listen);
      resolve(said as AbusedSaid & { readonly kind: Kind });
    });
  });
}

async function heapBytes(): Promise<number> {
  const figures = hear("figures");
  child.send("figures");
  return (await figures).heapBytes;
}

/** Sends the bytes on a connection of their own, and returns all that comes back until its end. */
function send({ bytes, drip, halfClose }: Abuse): Promise<string> {
  return new Promise((resolve) => {
    let received = "";
    const socket = connect({ port: Number(url.port), host: url.hostname, allowHalfOpen: true });
    const end = (): void => {
      clearTimeout(timer);
      clearInterval(dripping);
      socket.destroy();
      resolve(received);
    };
    const timer = setTimeout(end, ANSWER_WITHIN_MS);
    let dripping: NodeJS.Timeout | undefined;
    socket.on("connect", () => {
      socket.write(bytes);
      if (halfClose === true) socket.end();
      const pieces = [...(drip?.pieces ?? [])];
      if (drip)
        dripping = setInterval(() => {
          const piece = pieces.shift();
          if (piece !== undefined && socket.writable) socket.write(piece);
        }, drip.everyMs);
    });
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      if (isWhole(received)) end();
    });
    socket.on("error", end).on("end", end).on("close", end);
  });
}

function isWhole(text: string): boolean {
  const head = text.indexOf("\r\n\r\n");
  if (head < 0) return false;
  const length = /content-length: (\d+)/i.exec(text.slice(0, head))?.[1];
  return length !== undefined && text.length >= head + 4 + Number(length);
}

/** What is wrong with an answer; undefined when nothing is. */
function wrong(abuse: Abuse, answer: string): string | undefined {
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
  if (!abuse.statuses.includes(status))
    return `${abuse.kind}: ${answer === "" ? "no answer" : answer.slice(0, 300)}, not ${abuse.statuses.join(" or ")}`;
  if (status === 200) return undefined;
  const body = answer.slice(answer.indexOf("\r\n\r\n") + 4);
  let code = "";
  try {
    code = (JSON.parse(body) as { error?: { code?: string } }).error?.code ?? "";
  } catch {
    return `${abuse.kind}: ${status} with a body that is no JSON: ${answer.slice(0, 300)}`;
  }
  const documented = (PROBLEMS as Readonly<Record<string, { status: number }>>)[code];
  return documented?.status === status ? undefined : `${abuse.kind}: ${status} with the code ${code}`;
}

/** Mulberry32: small, and the same everywhere. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function abuse(count: number, random: () => number): Promise<string[]> {
  const kinds = abuses(tokens);
  const problems: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) {
      const one = kinds[n % kinds.length]!(random);
      const answer = await send(one);
      if (answers.length < 50_000_000) answers += answer;
      const problem = wrong(one, answer);
      if (problem !== undefined) problems.push(problem);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return problems;
}

test("answers every one with a documented code, and neither crashes nor grows nor tells a secret", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = chance(seed);
  // A first tenth warms it up: code is compiled, tables are filled.
  const problems = await abuse(Math.ceil(REQUESTS / 10), random);
  const before = await heapBytes();
  const slow = Promise.all(
    slowAbuses(tokens).map(async (one) => {
      const answer = await send(one);
      answers += answer;
      return wrong(one, answer);
    }),
  );
  problems.push(
    ...(await abuse(REQUESTS, random)),
    ...(await slow).filter((problem) => problem !== undefined),
  );
  expect({ seed, problems }).toEqual({ seed, problems: [] });
  expect({ exitCode: child.exitCode, printed }).toEqual({ exitCode: null, printed });
  const metrics = async (): Promise<string> => {
    const headers = { authorization: `Bearer ${tokens.read}` };
    return (await fetch(new URL("/metrics", url), { headers })).text();
  };
  await until("nothing is left under way", async () =>
    /keelson_gateway_inflight [01]\n[^]*keelson_gateway_streams 0\n[^]*keelson_gateway_body_bytes 0\n/.test(
      await metrics(),
    ),
  );
  expect((await heapBytes()) - before).toBeLessThan(GROWTH_BYTES_MAX);
  const all = answers + printed + (await metrics());
  for (const secret of secrets) expect(all.includes(secret)).toBe(false);
  // No stack, no path of a source file, in what callers see.
  expect(answers).not.toMatch(/\n\s+at |node_modules|\.ts:\d/);
}, 600_000);
