/**
 * The audit log of one gateway: lines of JSON in a file that is rotated, and the latest of them in memory for whoever asks. An entry is on the disk before the action
 * that it is about is answered. When it cannot be written, further actions are refused until it can.
 */
import { open, readFile, rename, rm, stat, type FileHandle } from "node:fs/promises";
import type { Clock } from "@keelson/runtime";
import { Problem } from "../problem.ts";
import { auditEntrySchema, type AuditEntry, type AuditRecord } from "./audit-entry.ts";

export interface AuditLimits {
  readonly fileBytesMax: number;
  /** The current file included. */
  readonly filesMax: number;
  /** Of what is in memory. */
  readonly entriesMax: number;
}

/** 64 MiB of disk, some 200,000 entries; 10,000 entries are about 5 MB of memory. */
const AUDIT_LIMITS: AuditLimits = {
  fileBytesMax: 8 * 1024 * 1024,
  filesMax: 8,
  entriesMax: 10_000,
};

export interface AuditQuery {
  readonly limit: number;
  /** Only older ones than this. */
  readonly before?: number | undefined;
  readonly who?: string | undefined;
  readonly action?: string | undefined;
  /** Only what was refused or failed. */
  readonly failed?: boolean | undefined;
}

export class AuditLog {
  readonly #path: string | undefined;
  readonly #clock: Clock;
  readonly #limits: AuditLimits;
  readonly #onProblem: (problem: string) => void;
  /** Oldest first. */
  readonly #entries: AuditEntry[] = [];
  #seq = 0;
  #file: FileHandle | undefined;
  #fileBytes = 0;
  #pending = "";
  #writing: Promise<void> | undefined;
  #broken: string | undefined;

  private constructor(options: {
    readonly path: string | undefined;
    readonly clock: Clock;
    readonly limits: AuditLimits;
    readonly onProblem: (problem: string) => void;
  }) {
    this.#path = options.path;
    this.#clock = options.clock;
    this.#limits = options.limits;
    this.#onProblem = options.onProblem;
  }

  /** Without a path it is kept in memory only. Rejects when the file cannot be written. */
  static async open(options: {
    readonly path?: string | undefined;
    readonly clock: Clock;
    readonly limits?: Partial<AuditLimits>;
    readonly onProblem?: (problem: string) => void;
  }): Promise<AuditLog> {
    const { path, clock, limits, onProblem = () => undefined } = options;
    const log = new AuditLog({ path, clock, limits: { ...AUDIT_LIMITS, ...limits }, onProblem });
    if (path !== undefined) {
      for (const name of [`${path}.1`, path]) log.#remember(await textOf(name));
      await log.#openFile();
    }
    return log;
  }

  /** Throws Problem AUDIT_UNAVAILABLE when the last entry could not be written and the next cannot either. */
  async require(): Promise<void> {
    if (this.#broken === undefined) return;
    await this.#flush();
    if (this.#broken !== undefined)
      throw new Problem("AUDIT_UNAVAILABLE", "the audit log cannot be written: nothing is done without it", {
        headers: { "retry-after": "5" },
      });
  }

  /** Resolves when it is on the disk, or was found impossible to write, which `onProblem` is told. */
  async append(record: AuditRecord): Promise<void> {
    this.#seq += 1;
    const entry: AuditEntry = { seq: this.#seq, at: this.#clock.wall(), ...record };
    this.#entries.push(entry);
    if (this.#entries.length > this.#limits.entriesMax) this.#entries.shift();
    if (this.#path === undefined) return;
    const line = `${JSON.stringify(entry)}\n`;
    // While nothing can be written only so much waits; the entries themselves are in memory still.
    if (this.#pending.length < this.#limits.fileBytesMax) this.#pending += line;
    await this.#flush();
  }

  /** Newest first, with the `before` of the next page. */
  query({ limit, before = Infinity, who, action, failed = false }: AuditQuery): {
    entries: AuditEntry[];
    next: number | undefined;
  } {
    const entries: AuditEntry[] = [];
    for (let at = this.#entries.length - 1; at >= 0; at--) {
      const entry = this.#entries[at]!;
      if (entry.seq >= before) continue;
      if (who !== undefined && entry.who !== who && entry.tokenId !== who) continue;
      if (action !== undefined && entry.action !== action) continue;
      if (failed && entry.outcome === "done") continue;
      if (entries.length === limit) return { entries, next: entries.at(-1)!.seq };
      entries.push(entry);
    }
    return { entries, next: undefined };
  }

  async close(): Promise<void> {
    await this.#flush();
    await this.#file?.close();
    this.#file = undefined;
  }

  /** One write at a time; what comes meanwhile goes with the next. */
  async #flush(): Promise<void> {
    while (this.#writing) await this.#writing;
    if (this.#pending === "") return;
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  async #write(): Promise<void> {
    const text = this.#pending;
    this.#pending = "";
    try {
      if (this.#fileBytes > 0 && this.#fileBytes + text.length > this.#limits.fileBytesMax)
        await this.#rotate();
      if (!this.#file) await this.#openFile();
      // Not `write`, which may write a part of it and call that well.
      await this.#file!.appendFile(text);
      this.#fileBytes += Buffer.byteLength(text);
      await this.#file!.datasync();
      this.#broken = undefined;
    } catch (error) {
      this.#pending = text + this.#pending;
      const problem = `the audit log cannot be written: ${error instanceof Error ? error.message : String(error)}`;
      if (problem !== this.#broken) this.#onProblem(problem);
      this.#broken = problem;
      await this.#file?.close().catch(() => undefined);
      this.#file = undefined;
    }
  }

  async #openFile(): Promise<void> {
    const file = await open(this.#path!, "a+", 0o600);
    this.#file = file;
    this.#fileBytes = (await file.stat()).size;
    if (this.#fileBytes === 0) return;
    const last = await file.read(Buffer.alloc(1), 0, 1, this.#fileBytes - 1);
    if (last.buffer.toString() === "\n") return;
    // The line was cut off, by the end of a process or of the disk: the next entry must not become the rest of it.
    await file.appendFile("\n");
    this.#fileBytes += 1;
  }

  async #rotate(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
    const path = this.#path!;
    const nameOf = (n: number): string => (n === 0 ? path : `${path}.${n}`);
    await rm(nameOf(this.#limits.filesMax - 1), { force: true });
    for (let n = this.#limits.filesMax - 2; n >= 0; n--)
      if (await stat(nameOf(n)).catch(() => undefined)) await rename(nameOf(n), nameOf(n + 1));
  }

  /** Takes in what an earlier process wrote; a line that was cut off by its end is skipped. */
  #remember(text: string): void {
    for (const line of text.split("\n")) {
      const entry = entryOf(line);
      if (!entry) continue;
      this.#entries.push(entry);
      this.#seq = Math.max(this.#seq, entry.seq);
    }
    this.#entries.splice(0, this.#entries.length - this.#limits.entriesMax);
  }
}

function entryOf(line: string): AuditEntry | undefined {
  if (line === "") return undefined;
  try {
    return auditEntrySchema.safeParse(JSON.parse(line)).data;
  } catch {
    // The last line of a process that was killed while it wrote.
    return undefined;
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
