/** A session is an etcd lease; its id is the lease's, in the 16 hexadecimal digits that `etcdctl lease list` prints. */
import type { Random } from "@keelson/kernel";

/** 63 random bits: etcd's ids are signed, and 0 means none. They are drawn by us, so that no two incarnations share one. */
export function newSessionId(random: Random): string {
  const high = Math.floor(random() * 2 ** 31);
  const low = Math.floor(random() * 2 ** 32);
  return high.toString(16).padStart(8, "0") + Math.max(low, 1).toString(16).padStart(8, "0");
}

/** The lease of a session; undefined for an id that no lease of ours can have, such as one from another store. */
export function leaseOf(session: string): string | undefined {
  if (!/^[0-9a-f]{1,16}$/.test(session)) return undefined;
  const lease = session.padStart(16, "0");
  return /^0{16}$|^[89a-f]/.test(lease) ? undefined : lease;
}
