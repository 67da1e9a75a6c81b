/** What a failed call to etcd means for the store's caller: was anything applied, may it have been, or can it never be? */
import { StoreError } from "@keelson/kernel";
import { GRPC, GrpcError } from "./grpc/status.ts";

/** With these codes etcd answers before it proposes anything to the cluster. */
const NOT_APPLIED: readonly number[] = [
  GRPC.invalidArgument,
  GRPC.notFound,
  GRPC.permissionDenied,
  GRPC.resourceExhausted,
  GRPC.failedPrecondition,
  GRPC.outOfRange,
  GRPC.unimplemented,
  GRPC.unauthenticated,
];

/** The member cannot serve, and said so at once. Other unavailabilities (a time-out, a new raft leader) leave the outcome open. */
const REFUSED = /etcdserver: (?:no leader|not capable|unhealthy cluster)/;

const MALFORMED = /too large|larger than max|too many operations|duplicate key|key is not provided/;

/** `writes`: the call changes something, so it matters whether it arrived. */
export function storeError(error: unknown, writes: boolean): StoreError {
  if (error instanceof StoreError) return error;
  if (!(error instanceof GrpcError))
    return new StoreError(writes ? "STORE_UNKNOWN" : "STORE_UNAVAILABLE", `etcd: ${String(error)}`, {
      cause: error,
    });
  return new StoreError(codeOf(error, writes), `etcd: ${error.message}`, { cause: error });
}

function codeOf(error: GrpcError, writes: boolean): StoreError["code"] {
  if (!error.sent) return "STORE_UNAVAILABLE";
  if (NOT_APPLIED.includes(error.code))
    return MALFORMED.test(error.message) ? "STORE_REJECTED" : "STORE_UNAVAILABLE";
  return writes && !memberRefused(error) ? "STORE_UNKNOWN" : "STORE_UNAVAILABLE";
}

/** This member is of no use now; another one may be. */
export function memberRefused(error: GrpcError): boolean {
  return error.code === GRPC.unavailable && REFUSED.test(error.message);
}

/** A put named a lease that etcd does not know, or one to be revoked is gone. */
export function isLeaseNotFound(error: unknown): boolean {
  return error instanceof GrpcError && error.code === GRPC.notFound && /lease not found/.test(error.message);
}

/** The token has expired, or users and roles changed since it was given. The call was not looked at. */
export function isTokenStale(error: unknown): boolean {
  return (
    error instanceof GrpcError &&
    (error.code === GRPC.unauthenticated || /revision of auth store is old/.test(error.message))
  );
}
