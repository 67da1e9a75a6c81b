import { expect, test } from "vitest";
import { PathTable } from "./path-table.ts";

function table(): PathTable<string> {
  const paths = new PathTable<string>();
  paths.add("GET", "/", "root");
  paths.add("GET", "/v1/jobs", "list");
  paths.add("POST", "/v1/jobs", "enqueue");
  paths.add("GET", "/v1/jobs/{id}", "get");
  paths.add("GET", "/v1/jobs/stats", "stats");
  paths.add("GET", "/v1/jobs/{id}/attempts/{n}", "attempt");
  paths.add("GET", "/v1/files/{repo}/{path*}", "file");
  return paths;
}

test.each([
  ["/", "root", {}],
  ["/v1/jobs", "list", {}],
  ["/v1/jobs/7", "get", { id: "7" }],
  ["/v1/jobs/stats", "stats", {}],
  ["/v1/jobs/stats/attempts/2", "attempt", { id: "stats", n: "2" }],
  ["/v1/jobs/a%2Fb", "get", { id: "a/b" }],
  ["/v1/files/r/src/a.ts", "file", { repo: "r", path: "src/a.ts" }],
])("%s is %s", (path, target, params) => {
  expect(table().match("GET", path)).toEqual({ kind: "found", target, params });
});

test.each([
  "/v1",
  "/v1/jobs/",
  "/v1/jobs//attempts/1",
  "/v1/jobs/1/2",
  "//",
  "/v1/files/r",
  `/${"a/".repeat(1e5)}`,
])("nothing is at %s", (path) => {
  expect(table().match("GET", path)).toEqual({ kind: "none" });
});

test("another verb is told which there are", () => {
  expect(table().match("DELETE", "/v1/jobs")).toMatchObject({
    kind: "verb",
    allow: ["GET", "POST"],
    targets: [expect.anything(), expect.anything()],
  });
});

test("a parameter that cannot be decoded is malformed", () => {
  expect(table().match("GET", "/v1/jobs/%zz")).toEqual({ kind: "malformed" });
});

test("two operations cannot be in one place", () => {
  expect(() => table().add("GET", "/v1/jobs/{other}", "again")).toThrow("two operations");
});
