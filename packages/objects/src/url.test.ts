import { expect, test } from "vitest";
import { parseObjectsUrl } from "./url.ts";

const parse = (url: string, environment: Record<string, string> = {}) => parseObjectsUrl(url, environment);

test.each([
  ["memory:", { kind: "memory" }],
  ["file:./data", { kind: "folder", folder: "./data" }],
  ["file:/var/data", { kind: "folder", folder: "/var/data" }],
  ["file:///var/data", { kind: "folder", folder: "/var/data" }],
  ["FILE:data", { kind: "folder", folder: "data" }],
])("%s names a place", (url, expected) => {
  expect(parse(url)).toEqual(expected);
});

test("an S3 place on AWS is found from its region, by the bucket's own host", () => {
  expect(parse("s3://my-bucket/fleets/a")).toEqual({
    kind: "s3",
    prefix: "fleets/a/",
    address: {
      bucket: "my-bucket",
      region: "us-east-1",
      endpoint: "https://s3.us-east-1.amazonaws.com",
      pathStyle: false,
    },
  });
  expect(parse("s3://my.bucket?region=eu-west-1")).toMatchObject({
    prefix: "",
    address: { endpoint: "https://s3.eu-west-1.amazonaws.com", pathStyle: true },
  });
});

test("an S3 place elsewhere has an endpoint, and the bucket in the path", () => {
  expect(parse("s3://my-bucket/?endpoint=http://127.0.0.1:9000")).toMatchObject({
    prefix: "",
    address: { endpoint: "http://127.0.0.1:9000", pathStyle: true },
  });
  expect(parse("s3://my-bucket?endpoint=https%3A%2F%2Fs3.example.com%2F&style=virtual")).toMatchObject({
    address: { endpoint: "https://s3.example.com", pathStyle: false },
  });
});

test("what the address leaves out comes from the environment", () => {
  const environment = { AWS_REGION: "eu-north-1", AWS_ENDPOINT_URL: "http://127.0.0.1:1" };
  expect(parse("s3://my-bucket", environment)).toMatchObject({
    address: { region: "eu-north-1", endpoint: "http://127.0.0.1:1", pathStyle: true },
  });
  expect(parse("s3://my-bucket?region=x&endpoint=http://127.0.0.1:2", environment)).toMatchObject({
    address: { region: "x", endpoint: "http://127.0.0.1:2" },
  });
});

test.each([
  ["", /no place: write file:/],
  ["./data", /write file:\.\/data, or/],
  ["gs://bucket/secret-token", /unknown place for objects "gs:": write file:/],
  ["memory:x", /write memory:/],
  ["file:", /names no folder/],
  ["file://host/x", /with a host/],
  ["s3:bucket", /written s3:\/\//],
  ["s3://b", /not the name of a bucket/],
  ["s3://Bucket", /not the name of a bucket/],
  ["s3://my-bucket?enpoint=x", /no parameter "enpoint": it has endpoint, region, style/],
  ["s3://my-bucket?endpoint=127.0.0.1:9000", /is no endpoint/],
  ["s3://my-bucket?endpoint=http://h/path", /is no endpoint/],
  ["s3://my-bucket?style=weird", /not "weird"/],
  ["s3://my-bucket?region=EU%20West", /not the name of a region/],
  ["s3://my-bucket/a/../b", /segment "\.\."/],
  [`s3://my-bucket/${"p".repeat(200)}`, /longer than/],
])("%j is refused in one line that says what to write", (url, message) => {
  expect(() => parse(url)).toThrow(expect.objectContaining({ code: "OBJECT_URL_INVALID" }));
  expect(() => parse(url)).toThrow(message);
  expect(() => parse(url)).toThrow(/^[^\n]+$/);
});

test.each(["s3://key:hunter2@my-bucket/x", "s3://my-bucket?endpoint=http://key:hunter2@host"])(
  "credentials in an address are refused and not repeated: %s",
  (url) => {
    expect(() => parse(url)).toThrow(/credentials do not belong/);
    expect(() => parse(url)).not.toThrow(/hunter2/);
  },
);

test("what follows an unknown scheme is not repeated", () => {
  expect(() => parse("gs://bucket/secret-token")).not.toThrow(/secret-token/);
});
