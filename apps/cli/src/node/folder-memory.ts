/**
 * A node's note to its next self, in its data folder: the greatest era it has seen, and its sessions. Whoever holds the folder's lock knows that
 * the process that wrote the note is dead, and may end its sessions at once instead of waiting one TTL.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "@keelson/kernel";
import type { NodeMemory } from "@keelson/runtime";
import { FolderLock } from "@keelson/stores/embedded";
import { z } from "zod";
import { RunError, UsageError } from "../failure.ts";

const NOTE = z.object({
  v: z.literal(1),
  fleet: z.string(),
  node: z.string(),
  era: z.number().int().nonnegative(),
  sessions: z.array(z.string()).max(16),
});

type Note = z.output<typeof NOTE>;

export interface FolderMemoryOptions {
  readonly folder: string;
  readonly fleet: string;
  readonly node: string;
  readonly clock: Clock;
  /** The note could not be written. The node goes on; a restart will have to wait one TTL. */
  readonly onProblem: (problem: string) => void;
}

export class FolderMemory implements NodeMemory {
  readonly #options: FolderMemoryOptions;
  readonly #lock: FolderLock;
  readonly #file: string;
  readonly #note: Note | undefined;

  private constructor(options: FolderMemoryOptions, lock: FolderLock, file: string, note: Note | undefined) {
    this.#options = options;
    this.#lock = lock;
    this.#file = file;
    this.#note = note;
  }

  /** Takes the folder. Throws when another process has it, or when what is in it is not this node's note. */
  static open(options: FolderMemoryOptions): FolderMemory {
    const lock = FolderLock.acquire(options.folder, options.clock);
    const file = join(options.folder, "node.json");
    try {
      const note = readNote(file);
      if (note !== undefined && (note.node !== options.node || note.fleet !== options.fleet))
        throw new UsageError(
          `${options.folder} is the folder of node ${note.node} of fleet ${note.fleet}: give node ${options.node} of fleet ${options.fleet} its own with --data`,
        );
      return new FolderMemory(options, lock, file, note);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  load(): { readonly era: number; readonly sessions: readonly string[] } | undefined {
    return this.#note;
  }

  /** Replaces the note in one step, so that a crash leaves the old or the new one. */
  save({ era, sessions }: { readonly era: number; readonly sessions: readonly string[] }): void {
    const { fleet, node } = this.#options;
    const note: Note = { v: 1, fleet, node, era, sessions: [...sessions] };
    const draft = `${this.#file}.draft`;
    try {
      const fd = openSync(draft, "w");
      try {
        writeSync(fd, `${JSON.stringify(note)}\n`);
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      renameSync(draft, this.#file);
    } catch (error) {
      this.#options.onProblem(
        `${this.#file} could not be written (${(error as Error).message}): a restart will wait one TTL; mend the folder`,
      );
    }
  }

  /** Leaves the folder to others. */
  close(): void {
    this.#lock.release();
  }
}

function readNote(file: string): Note | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new RunError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const parsed = NOTE.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  throw new RunError(
    `${file} is damaged or not a node's note: remove it (the node then waits one TTL and goes on), or name another folder with --data`,
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The schema refuses it, in words for people.
    return undefined;
  }
}
