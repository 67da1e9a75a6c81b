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
