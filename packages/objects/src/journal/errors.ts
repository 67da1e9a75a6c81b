/** Failures of a journal. After any of the first three the journal appends no more; open it again, with an epoch that is still yours. */
export type JournalErrorCode =
  /** Another tenure has begun: the record is not acknowledged, and whoever has the journal or stream now may or may not have seen it. Stop. */
  | "JOURNAL_FENCED"
  /** The record was on its way when the journal broke: it may be durable or not. Open again and replay to see. */
  | "JOURNAL_UNKNOWN"
  /** The journal is broken, and this record was never on its way. */
  | "JOURNAL_BROKEN"
  /** Too much waits already; nothing was taken. Wait for `flush`, then try again. */
  | "JOURNAL_OVERLOADED"
  /** What is stored is not what was written, in a place where no crash explains it. */
  | "JOURNAL_CORRUPT"
  /** Batches that were asked for have been trimmed. */
  | "JOURNAL_TRIMMED"
  /** A record or an option breaks a limit. */
  | "JOURNAL_REJECTED"
  /** It was closed. */
  | "JOURNAL_CLOSED";

export class JournalError extends Error {
  override readonly name = "JournalError";
  readonly code: JournalErrorCode;

  constructor(code: JournalErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
