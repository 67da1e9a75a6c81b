import type { ReplicaKey } from "@keelson/kernel";
import type { Mirror } from "../mirror/mirror.ts";

/**
 * Which nodes of this process have to be told of which replica's tenure, for nodes that share one copy of the store. A fleet of many nodes in one process would otherwise tell each of them of
 * every grant in the fleet, and nearly all of that would concern nobody. It only sorts; who is told, and when, is the feed's.
 */
export class Followers<Follower extends object> {
  readonly #byReplica = new Map<ReplicaKey, Follower[]>();
  readonly #byNode = new Map<string, Follower>();
  readonly #followed = new Map<Follower, ReplicaKey[]>();

  join(node: string, follower: Follower): void {
    this.#byNode.set(node, follower);
    if (!this.#followed.has(follower)) this.#followed.set(follower, []);
  }

  /** Told from now on of every change of this replica's tenure. */
  follow(replica: ReplicaKey, follower: Follower): void {
    const followers = this.#byReplica.get(replica);
    if (!followers) this.#byReplica.set(replica, [follower]);
    else if (followers.includes(follower)) return;
    else followers.push(follower);
    this.#followed.get(follower)?.push(replica);
  }

  leave(node: string, follower: Follower): void {
    if (this.#byNode.get(node) === follower) this.#byNode.delete(node);
    for (const replica of this.#followed.get(follower) ?? []) {
      const left = (this.#byReplica.get(replica) ?? []).filter((each) => each !== follower);
      if (left.length === 0) this.#byReplica.delete(replica);
      else this.#byReplica.set(replica, left);
    }
    this.#followed.delete(follower);
  }

  /** Sorts changes by whom they concern, each one's in the order they came: who follows the replica, and the node that its tenure names. */
  sort<Change>(
    changes: readonly Change[],
    about: (change: Change) => { replica: ReplicaKey; node: string | undefined },
  ): ReadonlyMap<Follower, readonly Change[]> {
    const sorted = new Map<Follower, Change[]>();
    const add = (follower: Follower, change: Change): void => {
      const list = sorted.get(follower);
      if (list) list.push(change);
      else sorted.set(follower, [change]);
    };
    for (const change of changes) {
      const { replica, node } = about(change);
      const followers = this.#byReplica.get(replica) ?? [];
      for (const follower of followers) add(follower, change);
      const named = node === undefined ? undefined : this.#byNode.get(node);
      if (named && !followers.includes(named)) add(named, change);
    }
    return sorted;
  }
}

const followers = new WeakMap<Mirror, Followers<object>>();

/** The followers of a copy of the store. One kind of follower only: those of the node's feed. */
export function followersOf<Follower extends object>(mirror: Mirror): Followers<Follower> {
  let known = followers.get(mirror);
  if (!known) followers.set(mirror, (known = new Followers<object>()));
  return known as Followers<Follower>;
}
