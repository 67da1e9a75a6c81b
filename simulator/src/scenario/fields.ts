/** Reads a table of a scenario file strictly: each key is asked for once with its type, and a key that nobody asked for is a mistake. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
}

export class Fields {
  readonly #table: Readonly<Record<string, unknown>>;
  readonly #path: string;
  readonly #asked = new Set<string>();

  constructor(table: unknown, path: string) {
    if (typeof table !== "object" || table === null || Array.isArray(table))
      throw new ScenarioError(`${path} must be a table`);
    this.#table = table as Record<string, unknown>;
    this.#path = path;
  }

  text(key: string, otherwise?: string): string {
    const value = this.#take(key) ?? otherwise;
    if (typeof value !== "string") throw this.#wrong(key, "a text");
    return value;
  }

  number(key: string, otherwise?: number): number {
    const value = this.#take(key) ?? otherwise;
    if (typeof value !== "number" || !Number.isFinite(value) || value < 0)
      throw this.#wrong(key, "a number from 0");
    return value;
  }

  flag(key: string, otherwise: boolean): boolean {
    const value = this.#take(key) ?? otherwise;
    if (typeof value !== "boolean") throw this.#wrong(key, "true or false");
    return value;
  }

  /** `[low, high]`, or one number for both. */
  range(key: string, otherwise?: readonly [number, number]): readonly [number, number] {
    const value = this.#take(key) ?? otherwise;
    if (typeof value === "number" && value >= 0) return [value, value];
    if (Array.isArray(value) && value.length === 2) {
      const [low, high] = value as unknown[];
      if (typeof low === "number" && typeof high === "number" && low >= 0 && low <= high) return [low, high];
    }
    throw this.#wrong(key, "a number or [low, high]");
  }

  texts(key: string): string[] {
    const value = this.#take(key) ?? [];
    if (!Array.isArray(value) || value.some((each) => typeof each !== "string"))
      throw this.#wrong(key, "a list of texts");
    return value as string[];
  }

  table(key: string): Fields {
    return new Fields(this.#take(key) ?? {}, `${this.#path}.${key}`);
  }

  /** The keys of the table that nobody has asked for yet, with their numbers. */
  numbers(): Map<string, number> {
    const keys = Object.keys(this.#table).filter((key) => !this.#asked.has(key));
    return new Map(keys.map((key) => [key, this.number(key)]));
  }

  /** Throws when the file says something that nobody reads. */
  done(): void {
    const unknown = Object.keys(this.#table).find((key) => !this.#asked.has(key));
    if (unknown !== undefined)
      throw new ScenarioError(
        `${this.#path} has "${unknown}", which nothing reads; it may have ${[...this.#asked].join(", ")}`,
      );
  }

  #take(key: string): unknown {
    this.#asked.add(key);
    return this.#table[key];
  }

  #wrong(key: string, wanted: string): ScenarioError {
    const value = this.#table[key];
    return new ScenarioError(
      `${this.#path}.${key} must be ${wanted}${value === undefined ? ", and is missing" : `, not ${JSON.stringify(value)}`}`,
    );
  }
}
