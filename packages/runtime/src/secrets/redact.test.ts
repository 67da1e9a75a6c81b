import { expect, test } from "vitest";
import { redact } from "./redact.ts";

const SECRET = "q9X2-vLw_81hsKd0Zr7TqpYbN3mE5uAiCfGjHk4lOoP";

test.each([
  [`keelson_0123456789abcdef_${SECRET}`, "keelson_0123456789abcdef_[hidden]"],
  [`authorization: Bearer ${SECRET}`, "authorization: Bearer [hidden]"],
  [`postgres://ann:${SECRET}@db:5432/x`, "postgres://ann:[hidden]@db:5432/x"],
  [`https://${SECRET}@git.example/x.git`, "https://[hidden]@git.example/x.git"],
  [`redis://:${SECRET}@host`, "redis://:[hidden]@host"],
  [`GET /x?token=${SECRET}&a=1`, "GET /x?token=[hidden]&a=1"],
  [`{"password":"${SECRET}","user":"ann"}`, '{"password":"[hidden]","user":"ann"}'],
  [`AWS_SECRET_ACCESS_KEY=${SECRET} x`, "AWS_SECRET_ACCESS_KEY=[hidden] x"],
  [`{"m":"{\\"api_key\\": \\"${SECRET}\\"}"}`, '{"m":"{\\"api_key\\": \\"[hidden]\\"}"}'],
  [`-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----\nafter`, "[hidden]\nafter"],
  [`-----BEGIN EC PRIVATE KEY-----\n${SECRET}`, "[hidden]"],
])("%s is written as %s", (text, safe) => {
  expect(redact(text)).toBe(safe);
  expect(redact(redact(text))).toBe(safe);
});

test.each([
  "node a and b, http://127.0.0.1:7600/docs, token 0123456789abcdef was revoked",
  "this token is not taken: ask an operator for another",
  "embedded://127.0.0.1:7400",
])("%s stays as it is", (text) => {
  expect(redact(text)).toBe(text);
});

test("a long text is cut instead of stalling the process", () => {
  const began = process.cpuUsage().user;
  expect(redact(`token=${"a".repeat(5_000_000)}`).length).toBeLessThan(70_000);
  expect(redact("a:b@".repeat(20_000)).length).toBeLessThan(70_000);
  for (const piece of ["a-", "a.", "a_", "a+", "token ", "bearer ", "a://", "-----BEGIN "])
    redact(piece.repeat(40_000));
  expect(process.cpuUsage().user - began).toBeLessThan(2_000_000);
});
