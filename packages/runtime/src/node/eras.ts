import type { EraMachine } from "@keelson/kernel";
import {
  type Clock,
  type CommitReport,
  type EraRecord,
  type EraSource,
  type Keys,
  type Rules,
  type Terms,
} from "@keelson/kernel";
import type { Committer } from "../commits/committer.ts";
import type { Mirror } from "../mirror/mirror.ts";

export interface EraPorts {
  readonly clock: Clock;
  readonly keys: Keys;
  readonly mirror: Mirror;
  readonly committer: Committer;
  readonly source: EraSource;
  readonly node: string;
  readonly terms: Terms;
  readonly rules: Rules;
  readonly changed: (reason: string) => void;
}

/** Proposes and opens eras as the era machine decides. */
export class Eras {
  readonly machine: EraMachine;
  readonly #ports: EraPorts;
  #fallen = false;

  constructor(machine: EraMachine, ports: EraPorts) {
    this.machine = machine;
    this.#ports = ports;
  }

  /** Looks at the record in the copy. */
  observe(fallen: boolean): void {
    const { mirror, keys, clock } = this.#ports;
    const incarnation = mirror.image.incarnation;
    if (incarnation === undefined) return;
    this.#fallen = fallen;
    this.machine.observe(mirror.image.get(keys.era), incarnation, this.#fallen, clock.now());
  }

  tick(): void {
    const { clock, terms } = this.#ports;
    const now = clock.now();
    const action = this.machine.tick(now);
    if (!action) return;
    this.machine.sent(now + 3 * terms.commitTimeoutMs);
    if (action.kind === "propose") void this.#propose(action.above, action.revision, action.reason);
    else {
      const { record, revision } = action;
      this.#commit(
        { ...record, phase: "open", by: this.#ports.node },
        revision,
        `era ${record.era} is open`,
        record.incarnation,
      );
    }
  }

  async #propose(above: number, revision: number, reason: string): Promise<void> {
    const { source, mirror, rules, terms, node, clock } = this.#ports;
    const incarnation = mirror.image.incarnation!;
    try {
      const next = rules.era
        ? await source.next(above, mirror.serverTimeMs)
        : { era: Math.max(1, above), fresh: false };
      const record: EraRecord = {
        v: 1,
        era: rules.eraUnique ? next.era : above + 1,
        incarnation,
        phase: next.fresh ? "open" : "closed",
        by: node,
        ttlMsMax: this.machine.ttlMsMax,
      };
      this.#commit(record, revision, `era ${record.era} begins: ${reason}`, incarnation);
    } catch (error) {
      this.machine.sent(clock.now() + terms.renewRetryMs);
      this.#ports.changed(
        `no era number to be had: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  #commit(record: EraRecord, revision: number, reason: string, incarnation: string): void {
    const { committer, keys, clock } = this.#ports;
    const report = (outcome: CommitReport) => {
      this.machine.sent(clock.now() + (outcome === "committed" ? 0 : 50));
      this.#ports.changed(outcome === "committed" ? reason : `${reason} (${outcome})`);
    };
    const write = { kind: "put" as const, key: keys.era, value: JSON.stringify(record) };
    committer.alone({ guards: [{ key: keys.era, revision }], writes: [write] }, report, incarnation);
  }
}
