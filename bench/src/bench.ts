/** One measurement: it prints nothing itself, so that all of them are shown and stored alike. */
export interface Bench {
  /** What it is called on the command line, and its results file. */
  readonly name: string;
  /** One line for the list. */
  readonly title: string;
  run(context: BenchContext): Promise<BenchResult>;
}

export interface BenchContext {
  /** What the user gave after the name. */
  readonly args: readonly string[];
  /** Says what is going on, for people. */
  readonly progress: (text: string) => void;
}

/** Keys end in their unit: `lookupNs`, `gapMsP99`. */
type Figures = Readonly<Record<string, number>>;

export interface BenchResult {
  readonly figures: Figures;
  /** The same figures of other systems, measured in the same run. */
  readonly peers: Readonly<Record<string, Figures>>;
  /** Promises that the run saw broken, in words. The command then exits with 3. */
  readonly broken?: readonly string[];
}
