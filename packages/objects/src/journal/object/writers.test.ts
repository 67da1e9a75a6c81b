import { expect, test } from "vitest";
import { ObjectError } from "../../errors.ts";
import { realClock } from "../../fixtures/real-clock.ts";
import { InterceptedObjects } from "../../intercepted-objects.ts";
import { MemoryObjects } from "../../memory/memory-objects.ts";
import type { Journal } from "../contract.ts";
import { openJournal, readJournal } from "../open.ts";

const SEEDS = 100;
const WRITERS = 5;
const RECORDS = 6;

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

function drawer(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Many writers of one journal, one after the other and at once, on objects that fail and delay as the seed draws. */
class Run {
  readonly #memory = new MemoryObjects();
  readonly #draw: () => number;
  readonly #shaky: InterceptedObjects;
  readonly acknowledged = new Map<string, string[]>();
  /** The codes that appends and openings failed with. */
  readonly codes = new Set<string>();

  constructor(seed: number) {
    this.#draw = drawer(seed);
    this.#shaky = new InterceptedObjects(this.#memory, async (call, _key, apply) => {
      await this.#pause(4);
      const luck = this.#draw();
      if (luck < 0.1) throw new ObjectError("OBJECT_UNAVAILABLE", "not reached");
      const answer = await apply();
      if (luck < 0.2 && call === "putIfAbsent")
        throw new ObjectError("OBJECT_UNKNOWN", "its end was not seen");
      return answer;
    });
  }

  async play(): Promise<void> {
    const writers: Promise<void>[] = [];
    for (let n = 0; n < WRITERS; n += 1) {
      const revision = 1 + Math.floor(this.#draw() * 3);
      writers.push(
        this.#write(revision, `w${n}`).catch(
          (error: unknown) => void this.codes.add((error as ObjectError).code),
        ),
      );
      await this.#pause(30);
    }
    await Promise.all(writers);
  }

  async read(): Promise<string[]> {
    const read: string[] = [];
    for await (const { records } of readJournal(this.#memory, {
      name: "j",
      timeoutMs: 5_000,
      random: Math.random,
    }))
      read.push(...records.map(({ bytes }) => bytes.toString()));
    return read;
  }

  async #write(revision: number, name: string): Promise<void> {
    const journal = await this.#open(revision);
    const texts: string[] = [];
    this.acknowledged.set(name, texts);
    const stream = journal.stream("a", { era: 1, revision });
    for (let n = 0; n < RECORDS; n += 1) {
      await stream.append(Buffer.from(`${name} ${n}`));
      texts.push(`${name} ${n}`);
    }
  }

  #open(revision: number): Promise<Journal> {
    // Back-off in a hundredth of the time.
    const after = (delayMs: number, run: () => void) => realClock.after(delayMs / 100, run);
    return openJournal(this.#shaky, {
      name: "j",
      epoch: { era: 1, revision },
      clock: { ...realClock, after },
      random: this.#draw,
      terms: { gatherMs: 0 },
    });
  }

  async #pause(turnsMax: number): Promise<void> {
    const turns = Math.floor(this.#draw() * turnsMax);
    for (let n = 0; n < turns; n += 1) await turn();
  }
}

const first = Number(process.env["KEELSON_SEED"] ?? 1);

test(`of many writers on failing objects, nothing acknowledged is lost, doubled or out of order (KEELSON_SEED from ${first})`, async () => {
  const codes = new Set<string>();
  for (let seed = first; seed < first + SEEDS; seed += 1) {
    const run = new Run(seed);
    await run.play();
    for (const code of run.codes) codes.add(code);
    const read = await run.read();
    const order = read.map((text) => text.split(" ")[0]!);
    // The records of one writer are together: nobody writes between another's.
    const parts = order.filter((name, at) => name !== order[at - 1]);
    expect({ seed, parts, doubled: read.length - new Set(read).size }).toEqual({
      seed,
      parts: Array.from(new Set(order)),
      doubled: 0,
    });
    for (const [name, texts] of run.acknowledged) {
      const own = read.filter((text) => text.startsWith(`${name} `));
      expect({ seed, own }).toEqual({ seed, own: own.map((_, n) => `${name} ${n}`) });
      expect({ seed, start: own.slice(0, texts.length) }).toEqual({ seed, start: texts });
    }
  }
  // All that can happen to a writer happened to some.
  expect([...codes]).toEqual(
    expect.arrayContaining(["JOURNAL_FENCED", "OBJECT_UNKNOWN", "OBJECT_UNAVAILABLE"]),
  );
  expect([...codes].filter((code) => /CORRUPT|REJECTED|CLOSED|TRIMMED|undefined/.test(code))).toEqual([]);
});
