/** What goes wrong, as `silo.v1` says it: its clients tell failures apart by status and by words in the message, so both are the protocol's. */
import { GrpcFailure, RouterError } from "@keelson/runtime";
import type { Refusal } from "../engine/index.ts";
import { ShardFailure } from "../shard/shard-failure.ts";

export const GRPC = {
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
} as const;

export function refusalFailure({ refused, message }: Refusal): GrpcFailure {
  switch (refused) {
    case "INVALID":
      return new GrpcFailure(GRPC.invalidArgument, message);
    case "CONFLICT":
      return new GrpcFailure(GRPC.alreadyExists, `job already exists: ${message}`);
    case "JOB_NOT_FOUND":
    case "DEPENDENCY_NOT_FOUND":
      return new GrpcFailure(GRPC.notFound, "job not found");
    case "LEASE_NOT_FOUND":
      return new GrpcFailure(GRPC.notFound, "lease not found");
    case "LEASE_OWNER_MISMATCH":
      return new GrpcFailure(GRPC.failedPrecondition, "lease owner mismatch");
    case "SCHEDULE_NOT_FOUND":
      return new GrpcFailure(GRPC.notFound, message);
    case "WRONG_STATE":
      return new GrpcFailure(GRPC.failedPrecondition, message);
  }
}

/** Failures of the way to a shard, and the shard's own. What it does not know it gives back. */
export function callFailure(error: unknown): unknown {
  if (error instanceof ShardFailure && error.code === "NO_SHARD") return shardNotFound();
  if (!(error instanceof RouterError)) return error;
  switch (error.code) {
    case "NO_SHARD":
      return shardNotFound();
    case "WARMING":
    case "NO_HOLDER":
      return new GrpcFailure(GRPC.unavailable, "shard not ready: acquisition in progress");
    case "SPLITTING":
      return new GrpcFailure(GRPC.unavailable, "shard is temporarily unavailable: split in progress");
    case "NOT_IN_RANGE":
      return new GrpcFailure(GRPC.failedPrecondition, `${error.message}; refresh topology and retry`);
    case "INVALID":
    case "TOO_LARGE":
      return new GrpcFailure(GRPC.invalidArgument, error.message);
    case "JOBS_OVERLOADED":
      return new GrpcFailure(GRPC.resourceExhausted, error.message);
    case "JOBS_CLOSED":
    case "JOBS_UNKNOWN":
      return new GrpcFailure(GRPC.unavailable, error.message);
    case "WRONG_STATE":
      return new GrpcFailure(GRPC.failedPrecondition, error.message);
    default:
      return error;
  }
}

export function outOfRange(tenant: string, shard: string): string {
  return `tenant ${JSON.stringify(tenant)} is not within shard ${shard} range; refresh topology and retry`;
}

/** `owner` is where the shard can be asked for instead, when somebody holds it. */
export function shardNotFound(owner?: { readonly address: string; readonly node: string }): GrpcFailure {
  const trailers =
    owner === undefined
      ? {}
      : { "x-silo-shard-owner-addr": owner.address, "x-silo-shard-owner-node": owner.node };
  return new GrpcFailure(GRPC.notFound, "shard not found", trailers);
}
