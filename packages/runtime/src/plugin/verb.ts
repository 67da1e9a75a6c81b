/** A command of a service's verb group: `keelson <plug-in> <verb>`. The CLI parses, helps, prints and exits; the verb asks the service's API and says what came. */

export interface Verb {
  /** One line for `--help`. */
  readonly about: string;
  /** In order; `[name]` may be left out, `<name...>` takes all that follow: as commander writes them. */
  readonly arguments?: readonly { readonly name: string; readonly about: string }[];
  /** `--limit <n>`: as commander writes them. */
  readonly options?: readonly { readonly flags: string; readonly about: string; readonly value?: string }[];
  run(call: VerbCall): Promise<void>;
}

export type Verbs = Readonly<Record<string, Verb>>;

/** A route's input, before it is checked. */
export interface VerbInput {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

export interface VerbCall {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  /** Calls a route of the plug-in by name, through the gateway. Rejects with ApiError. */
  readonly api: (route: string, input?: VerbInput) => Promise<unknown>;
  /** Items of a streaming route. */
  follow(
    route: string,
    input?: { params?: unknown; query?: unknown; body?: unknown },
  ): AsyncIterable<unknown>;
  readonly print: VerbPrinter;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Where the gateway is, and the token to show it, for a verb that speaks another protocol than its routes (an MCP server, say). */
  readonly gateway: { readonly url: string; readonly token: string | undefined };
}

/** Tables for people, JSON for programs: which, the CLI decides by `--json`. */
export interface VerbPrinter {
  /** A list of rows; `columns` says which fields people see, in which order. What the field `below` says comes after the list, in full, with the first column of its row. */
  table(rows: readonly Readonly<Record<string, unknown>>[], columns: readonly string[], below?: string): void;
  /** One thing with its fields. */
  record(value: Readonly<Record<string, unknown>>): void;
  /** One item of something that goes on; with `--json`, a line of JSON. */
  line(text: string, value: unknown): void;
  /** How far something is that takes longer than a second; shown to people only. */
  progress(text: string, fraction?: number): void;
}
