import { expect, test } from "vitest";
import { codeSettings } from "./settings.ts";

test("memory that a process would take without any index is refused, with what would do", () => {
  const { error } = codeSettings.safeParse({ memory: "200MB" });
  expect(error?.issues).toMatchObject([
    {
      path: ["memory"],
      message:
        "200 MB is too little: the process takes up to 192 MB besides indexes (processMemory), and these need 32 MB: give it 224 MB or more",
    },
  ]);
  expect(codeSettings.parse({ memory: "224MB" }).memory).toBe(224 << 20);
  expect(codeSettings.safeParse({ memory: "1GB", processMemory: "1GB" }).success).toBe(false);
});

test("there may be several secrets of webhooks, and what is none is told with its place", () => {
  const secretsOf = (webhookSecret?: unknown) => codeSettings.safeParse({ webhookSecret });
  expect(secretsOf().data?.webhookSecret).toEqual([]);
  expect(secretsOf("env:ONE").data?.webhookSecret).toEqual(["env:ONE"]);
  expect(secretsOf(["env:ONE", "file:/two"]).data?.webhookSecret).toEqual(["env:ONE", "file:/two"]);
  expect(secretsOf(["env:ONE", "hunter2"]).error?.issues).toMatchObject([
    { path: ["webhookSecret", 1], message: "write env:NAME, file:/path or command:program" },
  ]);
  expect(secretsOf("hunter2").error?.message).not.toContain("hunter2");
  expect(secretsOf(Array.from({ length: 5 }, () => "env:X")).success).toBe(false);
});
