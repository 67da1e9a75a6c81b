import { MemoryObjects, ScopedObjects, type Objects } from "@keelson/objects";
import { expect, test } from "vitest";
import { pagePlace, prepareEnvironment } from "./page-place.ts";

/** Objects of which only the place matters. */
function at(place: string, journalFolder?: string): Objects {
  return new Proxy(new MemoryObjects(), {
    get: (target, name) =>
      name === "place"
        ? place
        : name === "journalFolder"
          ? journalFolder
          : (Reflect.get(target, name) as unknown),
  });
}

test("pages lie beside a folder's journals", () => {
  const scoped = new ScopedObjects(at("file:/data", "/data/.journal"), "main/jobs/");
  expect(pagePlace(scoped, "")).toEqual({ kind: "folder", folder: "/data/.journal/main/jobs/pages" });
});

test("pages lie below the objects' prefix in a bucket", () => {
  const scoped = new ScopedObjects(at("s3://bucket/some/prefix/ at http://127.0.0.1:9000"), "main/jobs/");
  const place = pagePlace(scoped, "")!;
  expect(place).toEqual({
    kind: "s3",
    url: "s3://bucket/some/prefix/main/jobs/pages",
    endpoint: "http://127.0.0.1:9000",
  });
  const environment = {};
  prepareEnvironment(place, environment);
  expect(environment).toEqual({
    AWS_ENDPOINT: "http://127.0.0.1:9000",
    AWS_REGION: "us-east-1",
    AWS_ALLOW_HTTP: "true",
  });
});

test("a setting wins, and what is only in memory has no place for pages", () => {
  expect(pagePlace(at("file:/data", "/data/.journal"), "file:///elsewhere")).toEqual({
    kind: "folder",
    folder: "/elsewhere",
  });
  expect(pagePlace(at("file:/data", "/data/.journal"), "s3://b/p")).toEqual({ kind: "s3", url: "s3://b/p" });
  expect(pagePlace(new MemoryObjects(), "")).toBeUndefined();
});
