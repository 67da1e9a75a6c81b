import { NO_EPOCH, compareEpochs, formatEpoch, type Epoch, type ReplicaKey } from "@keelson/kernel";
import type { SimEvent } from "../events.ts";
import type { Checker, Scene } from "./checker.ts";

/** The last epoch that a process activated for a replica, by the life of the process. */
interface Activated {
  life: number;
  readonly epochs: Set<string>;
}

/**
 * Invariant 3: the epochs of a replica rise, across store restarts, losses and replacements. Looked at where it counts: whenever a replica is live and admits, its epoch is higher than
 * any under which another tenure of it ever admitted; and one epoch is activated at most once per process. Write epochs of primaries likewise.
 *
 * Not looked at: the order of tenure keys in the store, because a late grant under an era that has since been closed may be written and is never adopted.
 */
export class EpochsRiseChecker implements Checker {
  readonly name = "epochs-rise";
  readonly hears = ["activated", "promoted", "decision"] as const;
  readonly #scene: Scene;
  readonly #highest = new Map<ReplicaKey, { readonly epoch: Epoch; readonly node: string }>();
  /** By node, then by replica or shard. */
  readonly #activated = new Map<string, Map<string, Activated>>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  on(event: SimEvent): void {
    if (event.kind === "activated") this.#once(event.node, event.life, event.replica, event.epoch);
    else if (event.kind === "promoted")
      this.#once(event.node, event.life, `write epoch of ${event.shard}`, event.epoch);
    else if (event.kind === "decision") {
      const { kind, replica, epoch } = event.decision;
      if (kind !== "live" || replica === undefined || epoch === undefined) return;
      this.#scene.soon(() => {
        const node = this.#scene.nodes.find((each) => each.name === event.node);
        if (node?.up === true && node.check(replica)) this.#rose(event.node, replica, epoch);
      });
    }
  }

  #rose(node: string, replica: ReplicaKey, epoch: Epoch): void {
    const highest = this.#highest.get(replica) ?? { epoch: NO_EPOCH, node: "nobody" };
    if (compareEpochs(epoch, highest.epoch) > 0) this.#highest.set(replica, { epoch, node });
    else
      this.#scene.report(
        this.name,
        replica,
        `${node} is live under ${formatEpoch(epoch)}, and ${highest.node} was under ${formatEpoch(highest.epoch)} before`,
      );
  }

  #once(node: string, life: number, subject: string, epoch: Epoch): void {
    let ofNode = this.#activated.get(node);
    if (!ofNode) this.#activated.set(node, (ofNode = new Map<string, Activated>()));
    let activated = ofNode.get(subject);
    if (activated?.life !== life) ofNode.set(subject, (activated = { life, epochs: new Set() }));
    const text = formatEpoch(epoch);
    if (activated.epochs.has(text))
      this.#scene.report(this.name, subject, `${node} activated ${text} twice in one process`);
    activated.epochs.add(text);
  }
}
