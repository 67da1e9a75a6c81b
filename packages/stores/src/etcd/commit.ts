/**
 * A commit as one transaction of etcd: the guards and the incarnation are its comparisons, and its other branch reads what the guards are about, so that a conflict can
 * say which failed. Ended sessions need a second look: etcd says only that some lease is unknown, and nothing of leases when a guard failed.
 */
import { StoreError, type Commit, type CommitOutcome, type Revision } from "@keelson/kernel";
import type { EtcdConnection } from "./connection.ts";
import { isLeaseNotFound, storeError } from "./failure.ts";
import { readIncarnation } from "./incarnation.ts";
import type { Operation, Transaction, TransactionResult } from "./messages/kv.ts";
import { decodeLeaseReply, encodeLease } from "./messages/lease.ts";
import { leaseOf } from "./session-id.ts";

export interface CommitContext {
  readonly connection: EtcdConnection;
  readonly namespace: string;
  /** The incarnation that the caller believes in. */
  readonly incarnation: string;
  /** Milliseconds left before the deadline. */
  readonly left: () => number;
}

/** Rejects with a GrpcError when the transaction's outcome is open, and with a StoreError when nothing was applied. */
export async function commitTo(commit: Commit, context: CommitContext): Promise<CommitOutcome> {
  const { connection, incarnation, left } = context;
  const value = connection.incarnation.valueIn(incarnation);
  if (value === undefined) return otherIncarnation(context);
  const sessions = sessionsNamed(commit);
  // A session that can be no lease has certainly ended: only the guards are left to look at.
  const possible = sessions.every((session) => leaseOf(session) !== undefined);
  const transaction = transactionOf(possible ? commit : { ...commit, writes: [] }, value, context);
  let result: TransactionResult | undefined;
  try {
    result = await connection.transaction(transaction, left());
  } catch (error) {
    if (!isLeaseNotFound(error)) throw error;
  }
  if (result?.succeeded === true && possible)
    return { kind: "committed", revision: result.header.revision, incarnation };
  if (result?.succeeded === false) {
    const found = result.results[0]?.entries[0];
    if (found?.value !== value) return otherIncarnation(context);
  }
  const failed = result === undefined ? [] : failedGuards(commit, result);
  const lookedUp = await nothingApplied(() => endedSessions(sessions, context));
  if (failed.length === 0 && lookedUp.gone.length === 0)
    throw new StoreError("STORE_UNAVAILABLE", "etcd: a lease was unknown, and then it was not");
  const revision = Math.max(result?.header.revision ?? 0, lookedUp.revision);
  return { kind: "conflict", failed, gone: lookedUp.gone, revision, incarnation };
}

function transactionOf(commit: Commit, value: string, { namespace, connection }: CommitContext): Transaction {
  const { key } = connection.incarnation;
  const success = commit.writes.map((write): Operation => {
    const at = namespace + write.key;
    if (write.kind === "delete") return { kind: "delete", key: at };
    const lease = write.session === undefined ? undefined : leaseOf(write.session);
    return { kind: "put", key: at, value: write.value, lease };
  });
  const guarded = commit.guards.map((guard): Operation => ({
    kind: "range",
    query: { key: Buffer.from(namespace + guard.key), keysOnly: true },
  }));
  return {
    compares: [
      { kind: "value", key, value },
      ...commit.guards.map(
        (guard) => ({ kind: "revision", key: namespace + guard.key, revision: guard.revision }) as const,
      ),
    ],
    success,
    failure: [readIncarnation(key), ...guarded],
  };
}

/** The other branch read the incarnation first, and then what each guard is about, in the guards' order. */
function failedGuards(commit: Commit, { succeeded, results }: TransactionResult): string[] {
  if (succeeded) return [];
  const failed = commit.guards.filter(
    (guard, n) => (results[n + 1]?.entries[0]?.modRevision ?? 0) !== guard.revision,
  );
  return [...new Set(failed.map(({ key }) => key))];
}

function sessionsNamed({ writes }: Commit): string[] {
  const named = writes.flatMap((write) =>
    write.kind === "put" && write.session !== undefined ? [write.session] : [],
  );
  return [...new Set(named)];
}

async function endedSessions(
  sessions: readonly string[],
  { connection, left }: CommitContext,
): Promise<{ gone: string[]; revision: Revision }> {
  const looks = await Promise.all(
    sessions.map(async (session) => {
      const lease = leaseOf(session);
      if (lease === undefined) return { session, gone: true, revision: 0 };
      const message = await connection.call(
        "/etcdserverpb.Lease/LeaseTimeToLive",
        encodeLease(lease),
        left(),
      );
      const { grantedSeconds, header } = decodeLeaseReply(message);
      return { session, gone: grantedSeconds === 0, revision: header.revision };
    }),
  );
  return {
    gone: looks.filter(({ gone }) => gone).map(({ session }) => session),
    revision: Math.max(0, ...looks.map(({ revision }) => revision)),
  };
}

async function otherIncarnation({ connection, left }: CommitContext): Promise<CommitOutcome> {
  const { incarnation, revision } = await nothingApplied(() => connection.learnIncarnation(left()));
  return { kind: "incarnation", incarnation: incarnation.name, revision };
}

/** A failure while looking closer leaves no doubt about the commit itself. */
async function nothingApplied<T>(look: () => Promise<T>): Promise<T> {
  try {
    return await look();
  } catch (error) {
    throw storeError(error, false);
  }
}
