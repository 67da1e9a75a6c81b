import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import { AuditLog } from "./audit-log.ts";
import { Auditor } from "./auditor.ts";

const ASKER = { principal: { name: "ann", scope: "admin" }, from: "10.0.0.1" } as const;
const ACTION = { service: "fleet", name: "change" };

test.each([
  [
    { before: null, after: { name: "x", password: "abcdefgh" } },
    { name: "x", password: "[hidden]" },
  ],
  // What is hidden here is no text, or is more than one.
  [{ before: null, after: { tokens: 1_000_000 } }, "not kept: it has secrets"],
  [{ before: null, after: { name: "-----BEGIN PRIVATE KEY-----" } }, "not kept: it has secrets"],
  [{ before: null, after: "x".repeat(5_000) }, "too long to be kept"],
])("an action that changed %j is an entry", async (change, after) => {
  const log = await AuditLog.open({ clock: new ManualClock() });
  await new Auditor(log).done(ASKER, ACTION, {}, change);
  expect(log.query({ limit: 1 }).entries[0]).toMatchObject({
    who: "ann",
    outcome: "done",
    change: { after },
  });
});
