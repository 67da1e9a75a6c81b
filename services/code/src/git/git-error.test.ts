import { expect, test } from "vitest";
import { classify } from "./git-error.ts";

test("tells what ssh said, not git's advice behind it", () => {
  const output = [
    "ssh: connect to host 127.0.0.1 port 22: Connection refused\r",
    "fatal: Could not read from remote repository.",
    "",
    "Please make sure you have the correct access rights",
    "and the repository exists.",
    "",
  ].join("\n");
  const { code, message } = classify("a/b", output);
  expect(code).toBe("UNREACHABLE");
  expect(message).toBe(
    "a/b: the server cannot be reached (ssh: connect to host 127.0.0.1 port 22: Connection refused; fatal: Could not read from remote repository.): it is tried again",
  );
});

test("passes on nothing that a terminal would obey", () => {
  const { message } = classify("a/b", "remote: \u001b[2J\u001b[31mpwned\u009b\u202e\nfatal: no");
  expect(message).toContain("(remote: ?[2J?[31mpwned??; fatal: no)");
});
