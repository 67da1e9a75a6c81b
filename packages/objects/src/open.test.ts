import { createServer, type AddressInfo } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { realClock } from "./fixtures/real-clock.ts";
import { openObjects } from "./open.ts";

const root = mkdtempSync(join(tmpdir(), "keelson-open-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const keys = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "hunter2" };
const options = { clock: realClock, random: Math.random, environment: keys };

test("an address opens the place it names", async () => {
  const folder = join(root, "data");
  const objects = await openObjects(`file:${folder}`, options);
  await objects.put("a", Buffer.from("x"), { timeoutMs: 5_000 });
  expect([objects.place, objects.journalFolder]).toEqual([`file:${folder}`, join(folder, ".journal")]);
  expect((await openObjects("memory:", options)).place).toBe("memory:");
});

test("a place that cannot be reached is tried again, with progress, and then told in one line", async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const lines: string[] = [];
  const opening = openObjects(`s3://bucket/p?endpoint=http://127.0.0.1:${port}`, {
    ...options,
    timeoutMs: 1_200,
    progress: (line) => lines.push(line),
  });
  await expect(opening).rejects.toMatchObject({
    code: "OBJECT_UNAVAILABLE",
    message: expect.stringMatching(
      /^s3:\/\/bucket\/p\/ at http:\/\/127\.0\.0\.1:\d+ was not reached within 1200 ms: check the address[^\n]*ECONNREFUSED[^\n]*$/,
    ) as unknown,
  });
  for (const line of lines) expect(line).toMatch(/^cannot reach s3:\/\/bucket\/p\/ at .* yet, trying again/);
  expect(lines.join()).not.toContain("hunter2");
});

test("S3 without credentials says where to put them", async () => {
  const environment = { AWS_SHARED_CREDENTIALS_FILE: join(root, "nowhere") };
  await expect(
    openObjects("s3://bucket?endpoint=http://127.0.0.1:1", { ...options, environment }),
  ).rejects.toMatchObject({
    code: "OBJECT_DENIED",
    message: `no S3 credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them to ${join(root, "nowhere")} (ENOENT)`,
  });
});
