import { StoreError } from "@keelson/kernel";
import { expect, test } from "vitest";
import { storeError } from "./failure.ts";
import { GRPC, GrpcError, notSent } from "./grpc/status.ts";

const said = (code: number, message: string): GrpcError => new GrpcError(code, message, true);

test.each([
  [notSent("connection refused"), "STORE_UNAVAILABLE"],
  [said(GRPC.unavailable, "etcdserver: no leader"), "STORE_UNAVAILABLE"],
  [said(GRPC.unavailable, "etcdserver: request timed out"), "STORE_UNKNOWN"],
  [said(GRPC.unavailable, "etcdserver: leader changed"), "STORE_UNKNOWN"],
  [said(GRPC.unavailable, "etcdserver: server stopped"), "STORE_UNKNOWN"],
  [said(GRPC.unavailable, "10.0.0.1:2379: socket hang up"), "STORE_UNKNOWN"],
  [said(GRPC.deadlineExceeded, "no reply within 100 ms"), "STORE_UNKNOWN"],
  [said(GRPC.cancelled, "context canceled"), "STORE_UNKNOWN"],
  [said(GRPC.unknown, "panic"), "STORE_UNKNOWN"],
  [said(GRPC.resourceExhausted, "etcdserver: mvcc: database space exceeded"), "STORE_UNAVAILABLE"],
  [said(GRPC.resourceExhausted, "etcdserver: too many requests"), "STORE_UNAVAILABLE"],
  [said(GRPC.resourceExhausted, "grpc: received message larger than max (9 vs. 1)"), "STORE_REJECTED"],
  [said(GRPC.invalidArgument, "etcdserver: request is too large"), "STORE_REJECTED"],
  [said(GRPC.invalidArgument, "etcdserver: too many operations in txn request"), "STORE_REJECTED"],
  [said(GRPC.invalidArgument, "etcdserver: user name is empty"), "STORE_UNAVAILABLE"],
  [said(GRPC.permissionDenied, "etcdserver: permission denied"), "STORE_UNAVAILABLE"],
  [said(GRPC.unauthenticated, "etcdserver: invalid auth token"), "STORE_UNAVAILABLE"],
  [new Error("a bug"), "STORE_UNKNOWN"],
])("a write that ended with %s is %s", (error, code) => {
  const failure = storeError(error, true);
  expect(failure).toBeInstanceOf(StoreError);
  expect([failure.code, failure.message.startsWith("etcd: ")]).toEqual([code, true]);
});

test("a read is never unknown", () => {
  expect(storeError(said(GRPC.deadlineExceeded, "late"), false).code).toBe("STORE_UNAVAILABLE");
});
