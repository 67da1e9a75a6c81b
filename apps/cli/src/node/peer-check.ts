/**
 * Before a node joins: whether the members of the fleet take its certificate, and it theirs. A node that joined without being asked would be given shards that nobody
 * can reach. Members that cannot be reached at all say nothing about it.
 */
import { Keys, type Store } from "@keelson/kernel";
import { REPORT_METHOD } from "@keelson/runtime";
import type { WirePool } from "@keelson/wire";
import { RunError } from "../failure.ts";

const ASKED_MAX = 3;
const TIMEOUT_MS = 3_000;
/** How wire says that one side does not take the other's certificate. */
const ABOUT_TRUST = /UNAUTHORISED|certificate|TLS handshake/;

/** Throws a RunError when members refuse this node, or show certificates that it refuses, and none of those that were asked does not. */
export async function requireTrust(
  { fleet, id, store }: { readonly fleet: string; readonly id: string; readonly store: Store },
  pool: WirePool,
): Promise<void> {
  const prefix = new Keys(fleet).member("");
  const members = await store.range(prefix, { timeoutMs: TIMEOUT_MS, limit: ASKED_MAX + 1 }).catch(noStore);
  const others = (members?.entries ?? []).filter(({ key }) => key !== `${prefix}${id}`).slice(0, ASKED_MAX);
  const problems = await Promise.all(
    others.map(async ({ key, value }) => {
      const { address } = JSON.parse(value) as { address: string };
      const problem = await pool.call(address, REPORT_METHOD, null, { timeoutMs: TIMEOUT_MS }).then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      return problem === undefined ? undefined : { node: key.slice(prefix.length), problem };
    }),
  );
  // One that trusts this node is enough: then it is the others whose certificate ran out.
  if (problems.includes(undefined)) return;
  const found = problems.find((each) => each && ABOUT_TRUST.test(each.problem));
  if (found) throw new RunError(`node ${found.node} and this one do not trust each other: ${found.problem}`);
}

/** A store that is merely down is waited for later, as always; one that refuses this node will go on refusing it. */
function noStore(error: unknown): undefined {
  const problem = error instanceof Error ? error.message : String(error);
  if (ABOUT_TRUST.test(problem))
    throw new RunError(`the store and this node do not trust each other: ${problem}`);
}
