/** Leased tasks as they travel from a shard to a worker: packed, with the job's content as the shard keeps it. The worker takes it apart. */
import { ByteReader } from "../../engine/codec/byte-reader.ts";
import { ByteWriter } from "../../engine/codec/byte-writer.ts";
import { readBody, readList, writeList } from "../../engine/codec/body.ts";
import { readInput, writeInput } from "../../engine/codec/stored-job.ts";
import { outcomeView } from "../../engine/commands/leasing.ts";
import type { InputView, TakenTask } from "../../engine/index.ts";

const VERSION = 1;
const FLAGS = { last: 1, inputs: 2 } as const;
/** A block is full from here on: one more job always fits into a frame. A worker reports what it ran of one block while the next one arrives. */
const BLOCK_BYTES = 64 * 1024;

const scratch = new ByteWriter(64 * 1024);

/** Blocks of at least one task, in order. `onBlock` hears how many tasks have left with the block that follows. */
export function* packTasks(
  tasks: readonly TakenTask[],
  onBlock: (left: number) => void = () => {},
): Generator<Buffer> {
  for (let at = 0; at < tasks.length;) {
    const out = scratch;
    out.clear();
    out.byte(VERSION);
    while (at < tasks.length && out.length < BLOCK_BYTES) writeTask(out, tasks[at++] as TakenTask);
    onBlock(at);
    yield out.copy();
  }
}

function writeTask(out: ByteWriter, task: TakenTask): void {
  const { inputs } = task;
  out.whole(task.task);
  out.text(task.tenant);
  out.text(task.id);
  out.whole(task.attempt);
  out.whole(task.relativeAttempt);
  out.byte((task.isLastAttempt ? FLAGS.last : 0) | (inputs.length > 0 ? FLAGS.inputs : 0));
  out.whole(task.leaseMs);
  out.binary(task.body);
  if (inputs.length > 0) writeList(out, inputs, writeInput);
}

/** What a worker needs of a task. */
export interface GivenTask {
  readonly task: number;
  readonly tenant: string;
  readonly id: string;
  readonly group: string;
  readonly attempt: number;
  readonly relativeAttempt: number;
  readonly isLastAttempt: boolean;
  readonly leaseMs: number;
  readonly payload: Uint8Array;
  readonly metadata: Readonly<Record<string, string>>;
  readonly inputs: readonly InputView[];
}

const NO_METADATA: Readonly<Record<string, string>> = Object.freeze({});
const NO_INPUTS: readonly InputView[] = Object.freeze([]);

export function unpackTasks(bytes: Uint8Array): GivenTask[] {
  const reader = new ByteReader(bytes);
  if (reader.byte() !== VERSION) throw new RangeError("packed tasks have an unknown version");
  const tasks: GivenTask[] = [];
  let [tenant, group] = ["", ""];
  while (!reader.done) {
    const task = reader.whole();
    tenant = reader.textLike(tenant);
    const id = reader.text();
    const attempt = reader.whole();
    const relativeAttempt = reader.whole();
    const flags = reader.byte();
    const leaseMs = reader.whole();
    const content = readBody(reader.part(), group);
    group = content.group;
    tasks.push({
      task,
      tenant,
      id,
      group,
      attempt,
      relativeAttempt,
      isLastAttempt: (flags & FLAGS.last) !== 0,
      leaseMs,
      payload: content.payload,
      metadata: content.metadata ?? NO_METADATA,
      inputs: flags & FLAGS.inputs ? readList(reader, readInputView) : NO_INPUTS,
    });
  }
  return tasks;
}

function readInputView(from: ByteReader): InputView {
  const { id, outcome, omitted } = readInput(from);
  return { id, outcome: outcomeView(outcome), omitted };
}
