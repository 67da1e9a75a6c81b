/**
 * Brings tasks to workers: who waits with credit is given tasks as soon as there are some. It decides nothing about jobs, the engine does; it keeps which worker's
 * stream has how much credit, and asks for a lease when both sides are there. What it leased for a stream that ended meanwhile it gives back.
 */
import type { AbortSignalLike } from "@keelson/kernel";
import {
  isRefusal,
  type Answer,
  type Command,
  type Effect,
  type RefreshTask,
  type TakenTask,
} from "../engine/index.ts";
import { Outbox, whenGone } from "./outbox.ts";
import { packTasks } from "./packed/tasks.ts";
import { PROTOCOL_LIMITS, type WorkItem, type WorkOpen } from "./protocol.ts";
import { ShardFailure } from "./shard-failure.ts";

/** What the desk asks of the queue. Answers come once they are durable. */
export interface LeaseQueue {
  execute<K extends "take" | "giveBack">(command: Command<K>): Promise<Answer<K>>;
}

type Push =
  | { readonly kind: "tasks"; readonly tasks: readonly TakenTask[] }
  | { readonly kind: "refresh"; readonly refresh: RefreshTask }
  | { readonly kind: "stop"; readonly task: number; readonly reason: "cancelled" | "timeout" | "lost" };

interface Session {
  readonly open: WorkOpen;
  readonly outbox: Outbox<Push>;
  credit: number;
  /** A lease was asked for and has not answered. */
  asking: number;
}

/** In one lease for whoever is next, so that many workers share a small backlog; and for a worker that has just reported as many. */
const LEASE_TASKS_MAX = 256;
const REPLACED_TASKS_MAX = 1_000;
/** Beyond the credit there are only stops, at most one for each task. */
const OUTBOX_MAX = 2 * PROTOCOL_LIMITS.creditMax;

export class WorkDesk {
  readonly #queue: LeaseQueue;
  readonly #sessions = new Map<string, Session>();
  /** By group, the one that was served longest ago first. */
  readonly #groups = new Map<string, Session[]>();
  /** Groups that are to be served, and whether somebody is at it. */
  readonly #ready = new Set<string>();
  #serving = false;
  /** Groups that became ready while all who have credit were asking: what they asked for may have been settled before. */
  readonly #again = new Set<string>();
  /** Streams, and leases and returns of tasks, that are not over, and who waits until all are. */
  #underWay = 0;
  #onQuiet: (() => void)[] = [];

  constructor(queue: LeaseQueue) {
    this.#queue = queue;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  async *open(open: WorkOpen, signal?: AbortSignalLike): AsyncGenerator<WorkItem, void> {
    if (this.#sessions.size >= PROTOCOL_LIMITS.sessionsMax)
      throw new ShardFailure("OVERLOADED", `${this.#sessions.size} workers are connected to this shard`);
    const session: Session = { open, outbox: new Outbox(OUTBOX_MAX), credit: 0, asking: 0 };
    session.outbox.onEnd = () => this.#close(session);
    this.#sessions.set(open.session, session);
    const group = this.#groups.get(open.group) ?? [];
    group.push(session);
    this.#groups.set(open.group, group);
    this.#underWay += 1;
    /** Leased, and not on their way yet. */
    let unsent: readonly TakenTask[] = [];
    const unlisten = whenGone(signal, () => {
      this.#giveBack(session, tasksOf(session.outbox.takeUnread()));
      session.outbox.end();
    });
    try {
      this.credit(open.session, open.credit);
      for await (const pushes of session.outbox) {
        const tasks = tasksOf(pushes);
        for (const block of packTasks(tasks, (left) => (unsent = tasks.slice(left)))) yield { tasks: block };
        yield* othersOf(pushes);
      }
    } finally {
      unlisten();
      // It broke off: no worker has heard of these, and their leases would have to run out.
      this.#giveBack(session, [...unsent, ...tasksOf(session.outbox.takeUnread())]);
      this.#over();
    }
  }

  /** A worker can take so many tasks more. Of a session that is over, nothing is left to credit. */
  credit(id: string, count: number): void {
    const session = this.#sessions.get(id);
    if (session === undefined || count <= 0) return;
    session.credit = Math.min(PROTOCOL_LIMITS.creditMax, session.credit + count);
    this.#ask(session, REPLACED_TASKS_MAX);
  }

  /** Hears of what the engine did, once it is durable. */
  effects(effects: readonly Effect[]): void {
    for (const effect of effects) if (effect.kind === "stop") this.#stop(effect);
  }

  /** A group has something that may run, durable or not: a lease of it leaves when both are. */
  ready(group: string): void {
    this.#ready.add(group);
    // A lease may make more ready: that is served by the call that is under way, and not within it.
    if (this.#serving) return;
    this.#serving = true;
    try {
      for (const each of this.#ready) {
        this.#ready.delete(each);
        this.#serve(each);
      }
    } finally {
      this.#serving = false;
    }
  }

  /** The tenure ends: workers ask again elsewhere. */
  close(): void {
    for (const { outbox } of this.#sessions.values()) outbox.end();
  }

  /** After `close`: resolves when all streams have ended, and what was leased for them and did not leave was given back. A worker that does not read keeps it waiting. */
  quiet(): Promise<void> {
    if (this.#underWay === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onQuiet.push(resolve));
  }

  #over(): void {
    this.#underWay -= 1;
    if (this.#underWay > 0) return;
    for (const resolve of this.#onQuiet.splice(0)) resolve();
  }

  /** Asks for one worker after another, until one is left with nothing. */
  #serve(group: string): void {
    const sessions = this.#groups.get(group);
    const next = sessions?.find(({ credit, asking }) => credit > 0 && asking === 0);
    if (sessions === undefined) return;
    if (next === undefined) {
      if (sessions.some(({ asking }) => asking > 0)) this.#again.add(group);
      return;
    }
    sessions.push(...sessions.splice(sessions.indexOf(next), 1));
    this.#ask(next);
  }

  #ask(session: Session, tasksMax = LEASE_TASKS_MAX): void {
    const max = Math.min(session.credit, tasksMax);
    if (max === 0 || session.outbox.ended) return;
    const { worker, group, leaseMs } = session.open;
    session.credit -= max;
    session.asking += 1;
    this.#underWay += 1;
    this.#queue.execute({ kind: "take", group, worker, max, leaseMs }).then(
      (leased) => {
        session.asking -= 1;
        if (isRefusal(leased)) session.outbox.end();
        else {
          const { taken, refreshes } = leased;
          session.credit += max - taken.length;
          this.#deliver(session, taken, refreshes);
          // It was filled, or asked too early: there may be more, for it or for others.
          if (this.#again.delete(group) || taken.length === max) this.#serve(group);
        }
        this.#over();
      },
      () => {
        // The queue has failed, and with it the shard; every stream ends.
        session.outbox.end();
        this.#over();
      },
    );
  }

  #deliver(session: Session, tasks: readonly TakenTask[], refreshes: readonly RefreshTask[]): void {
    const delivered = tasks.length === 0 || session.outbox.put({ kind: "tasks", tasks });
    for (const refresh of refreshes) session.outbox.put({ kind: "refresh", refresh });
    if (!delivered) this.#giveBack(session, tasks);
  }

  #giveBack({ open: { worker } }: Session, given: readonly TakenTask[]): void {
    if (given.length === 0) return;
    const tasks = given.map(({ task }) => task);
    this.#underWay += 1;
    const over = (): void => this.#over();
    // When this fails the shard has failed, and their leases end by themselves.
    this.#queue.execute({ kind: "giveBack", worker, tasks }).then(over, over);
  }

  #stop({ worker, task, reason }: Effect & { kind: "stop" }): void {
    for (const { open, outbox } of this.#sessions.values())
      if (open.worker === worker) outbox.put({ kind: "stop", task, reason });
  }

  #close(session: Session): void {
    const { open } = session;
    if (this.#sessions.get(open.session) === session) this.#sessions.delete(open.session);
    const group = this.#groups.get(open.group) ?? [];
    const index = group.indexOf(session);
    if (index >= 0) group.splice(index, 1);
    if (group.length > 0) return;
    this.#groups.delete(open.group);
    this.#again.delete(open.group);
  }
}

function tasksOf(pushes: readonly Push[]): readonly TakenTask[] {
  return pushes.flatMap((push) => (push.kind === "tasks" ? push.tasks : []));
}

/** As few items as there can be. */
function* othersOf(pushes: readonly Push[]): Generator<WorkItem> {
  const refreshes: RefreshTask[] = [];
  const stops: { task: number; reason: "cancelled" | "timeout" | "lost" }[] = [];
  for (const push of pushes)
    if (push.kind === "refresh") refreshes.push(push.refresh);
    else if (push.kind === "stop") stops.push({ task: push.task, reason: push.reason });
  if (refreshes.length > 0) yield { refreshes };
  if (stops.length > 0) yield { stops };
}
