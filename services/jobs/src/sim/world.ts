/** One run: producers, workers, a shard and the faults between them, from one seed. */
import type { Answer, Command, CommandKind, Enqueued } from "../engine/model/command.ts";
import type { JobSpec } from "../engine/model/job-spec.ts";
import type { JobsBreak } from "./breaks.ts";
import { Chance } from "./chance.ts";
import { Checker, nameOf } from "./checker.ts";
import { drawJob } from "./jobs-drawn.ts";
import { drawKnobs, type Knobs } from "./knobs.ts";
import { SimShard, type Watcher } from "./sim-shard.ts";
import { SimWorker } from "./sim-worker.ts";
import { Timeline } from "./timeline.ts";

export interface RunReport {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly knobs: Knobs;
  readonly jobs: number;
  readonly grants: number;
  readonly crashes: number;
  readonly checkpoints: number;
  readonly applies: number;
}

/** After the faults end, everything must come to rest in this time. A thousand jobs that share one place of a limit and take a second each need a quarter of it. */
const REST_MS = 3_600_000;
const EVENTS_MAX = 400_000;
const SCHEDULE_PERIOD_MS = 700;

export class World {
  readonly chance: Chance;
  readonly knobs: Knobs;
  readonly timeline = new Timeline();
  readonly checker = new Checker();
  readonly shard: SimShard;
  readonly #seed: number;
  readonly #workers = new Map<string, SimWorker>();
  readonly #known: string[] = [];
  readonly #specs = new Map<string, JobSpec>();
  #number = 0;
  /** No more faults. */
  calm = false;

  /** Without one of the rules, if one is named. */
  constructor(seed: number, broken?: JobsBreak) {
    this.#seed = seed;
    this.chance = new Chance(seed);
    this.knobs = drawKnobs(this.chance);
    const { leaseMs, lostLeasesMax, slowFlush: slow, failingFlush: failing, checkpointing } = this.knobs;
    const weather = { slow, failing, checkpointing };
    const watcher: Watcher = {
      applied: (engine, command, answer, now) => this.checker.applied(engine, command, answer, now),
      restarted: (engine, now) => this.checker.restarted(engine, now),
      effects: (effects) => {
        for (const effect of effects) {
          if (effect.kind !== "stop" || effect.reason === "cancelled") continue;
          // Told over the same network, and to streams that a restart has ended: a worker counts on its lease's time and on nothing else.
          if (!this.calm && this.chance.yes(this.knobs.replyLost)) continue;
          this.#workers.get(effect.worker)?.stop(effect.task);
        }
      },
      broken: (what) => this.checker.break(what),
    };
    const terms = { leaseMs, lostLeasesMax };
    this.shard = new SimShard(this.timeline, this.chance, terms, weather, watcher, broken);
  }

  run(): RunReport {
    const { knobs, timeline, chance } = this;
    for (let n = 0; n < knobs.workers; n++) {
      // Every group has a worker, or nothing comes to rest.
      const worker = new SimWorker(this, `w${n}`, `g${(n % knobs.groups) + 1}`);
      this.#workers.set(worker.name, worker);
      worker.start();
    }
    for (let n = knobs.workers; n < knobs.groups; n++) {
      const worker = new SimWorker(this, `w${n}`, `g${n + 1}`);
      this.#workers.set(worker.name, worker);
      worker.start();
    }
    for (let n = 0; n < knobs.producers; n++) this.#produce();
    if (knobs.steering > 0) this.#steer();
    if (knobs.crashEveryMs !== Infinity) this.#crashLater();
    if (knobs.clockJumps)
      timeline.after(chance.whole(0, knobs.durationMs), () => this.shard.setClock(chance.whole(-5000, 5000)));
    timeline.run(knobs.durationMs, EVENTS_MAX);
    this.#comeToRest();
    this.checker.finish(this.shard);
    return {
      seed: this.#seed,
      violations: this.checker.violations,
      knobs,
      jobs: this.#number,
      grants: this.checker.grants,
      crashes: this.shard.crashes,
      checkpoints: this.shard.checkpoints,
      applies: this.shard.applies,
    };
  }

  /** Over a network that loses and doubles. */
  send<K extends CommandKind>(command: Command<K>, reply: (answer: Answer<K>) => void): void {
    const { chance, timeline, knobs, shard } = this;
    const faulty = !this.calm;
    let answered = false;
    const arrive = (): void =>
      shard.request(command, (answer) => {
        if (faulty && chance.yes(knobs.replyLost)) return;
        timeline.after(chance.whole(0, 20), () => {
          if (answered) return;
          answered = true;
          reply(answer);
        });
      });
    if (faulty && chance.yes(knobs.requestLost)) return;
    timeline.after(chance.whole(0, 20), arrive);
    // A doubled lease would be another lease, which is what a worker that asks again gets.
    if (faulty && command.kind !== "lease" && chance.yes(knobs.requestDoubled))
      timeline.after(chance.whole(0, 3000), arrive);
  }

  /** Again and again until it is answered. */
  insist<K extends CommandKind>(command: Command<K>, reply: (answer: Answer<K>) => void): void {
    let answered = false;
    const attempt = (): void => {
      if (answered) return;
      this.send(command, (answer) => {
        if (answered) return;
        answered = true;
        reply(answer);
      });
      this.timeline.after(this.chance.whole(1000, 3000), attempt);
    };
    attempt();
  }

  #produce(): void {
    const { chance, timeline, knobs } = this;
    timeline.after(chance.whole(0, 600), () => {
      if (timeline.nowMs >= knobs.durationMs) return;
      const jobs = Array.from({ length: chance.whole(1, 4) }, () =>
        drawJob(chance, knobs, ++this.#number, this.#known.slice(-20), this.shard.now().wallMs),
      );
      this.insist({ kind: "enqueue", jobs }, (answers) => {
        for (const [at, spec] of jobs.entries())
          this.#enqueued(spec, answers[at] as Answer<"enqueue">[number]);
        this.#produce();
      });
    });
  }

  #enqueued(spec: JobSpec, answer: Answer<"enqueue">[number]): void {
    if ("refused" in answer) {
      // A dependency may have been deleted.
      if (answer.refused !== "DEPENDENCY_NOT_FOUND")
        this.checker.break(`${spec.id} was refused: ${answer.message}`);
      return;
    }
    this.#acknowledge(spec, answer);
  }

  #acknowledge(spec: JobSpec, answer: Enqueued): void {
    this.checker.acknowledged(spec, answer);
    if (answer.outcome === "joined" || spec.dedupe !== undefined) this.checker.triggerAcknowledged(spec);
    const name = nameOf(spec.tenant, answer.id);
    this.#known.push(name);
    this.#specs.set(name, spec);
  }

  /** What operators do: some of it to jobs that are in no state for it. */
  #steer(): void {
    const { chance, timeline, knobs } = this;
    timeline.after(chance.whole(50, 1000), () => {
      if (timeline.nowMs >= knobs.durationMs) return;
      this.#steer();
      const tenant = `t${chance.whole(1, knobs.tenants)}`;
      const group = `g${chance.whole(1, knobs.groups)}`;
      const what = chance.pick(["tenant", "group", "schedule", "job", "job", "job"] as const);
      const paused = chance.yes(0.4);
      if (what === "tenant")
        this.insist({ kind: "setTenant", tenant, paused, weight: chance.whole(1, 4) }, () => {});
      else if (what === "group") this.insist({ kind: "setGroup", group, paused }, () => {});
      else if (what === "schedule") this.#schedule(tenant, group);
      else this.#steerJob();
    });
  }

  #schedule(tenant: string, group: string): void {
    const { chance } = this;
    const id = `s${chance.whole(1, 2)}`;
    if (chance.yes(0.4)) return this.send({ kind: "deleteSchedule", tenant, id }, () => {});
    const missed = chance.pick(["skip", "once", "all"] as const);
    const job = { group, payload: Buffer.from("0") };
    const cron = `every ${SCHEDULE_PERIOD_MS}`;
    this.send(
      { kind: "putSchedule", schedule: { id, tenant, cron, timeZone: "UTC", missed, job } },
      () => {},
    );
  }

  #steerJob(): void {
    const { chance, checker } = this;
    if (this.#known.length === 0) return;
    const name = chance.pick(this.#known);
    const spec = this.#specs.get(name) as JobSpec;
    const { tenant } = spec;
    const id = name.slice(tenant.length + 1);
    const kind = chance.pick(["cancel", "restart", "expedite", "delete", "cancel", "restart"] as const);
    if (kind === "delete") checker.deleting(tenant, id);
    if (kind === "restart") checker.restarting(name);
    if (kind === "cancel" && spec.dedupe !== undefined) checker.excuse(`${tenant}/${spec.dedupe.key}`);
    this.send({ kind, tenant, id }, () => {});
  }

  #crashLater(): void {
    const { chance, timeline, knobs } = this;
    timeline.after(chance.whole(1, knobs.crashEveryMs * 2), () => {
      if (this.calm) return;
      this.shard.crash(chance.whole(1, 3000));
      this.#crashLater();
    });
  }

  #comeToRest(): void {
    const { knobs, timeline, shard } = this;
    this.calm = true;
    shard.calm = true;
    // What was sent before may still arrive, and be sent again.
    timeline.run(timeline.nowMs + 30_000, EVENTS_MAX);
    for (let n = 1; n <= knobs.tenants; n++) {
      this.insist({ kind: "setTenant", tenant: `t${n}`, paused: false }, () => {});
      for (const id of ["s1", "s2"]) this.insist({ kind: "deleteSchedule", tenant: `t${n}`, id }, () => {});
    }
    for (let n = 1; n <= knobs.groups; n++)
      this.insist({ kind: "setGroup", group: `g${n}`, paused: false }, () => {});
    const until = timeline.nowMs + REST_MS;
    timeline.run(timeline.nowMs + 5000, EVENTS_MAX);
    while (timeline.nowMs < until) {
      if (timeline.run(timeline.nowMs + 2000, EVENTS_MAX) >= EVENTS_MAX) break;
      const stats = shard.engine?.state.counts;
      if (stats !== undefined && stats.scheduled + stats.running === 0) break;
    }
    timeline.run(timeline.nowMs + 10_000, EVENTS_MAX);
  }
}
