/**
 * An expression as a nondeterministic automaton over bytes. Characters become ranges of UTF-8 bytes; what is not UTF-8 matches nothing. A state either reads one
 * byte, goes on without reading (in order of preference), asserts, or is the match. The same expression also compiles backward, to find where a match starts from where it ends.
 */
import { EngineError } from "../errors.ts";
import { isNullable, type Assertion, type Node } from "./syntax.ts";
import { utf8Sequences, type ByteRange } from "./utf8.ts";

/** States of one program, as RE2 has a limit. A state set of this size still steps in a few milliseconds. */
const STATES_MAX = 100_000;

export interface Program {
  readonly start: number;
  readonly states: readonly State[];
  /** What matters of what lies before and after a place: whether a line or the text ends there, and whether a word does. */
  readonly assertsLines: boolean;
  readonly assertsWords: boolean;
  /** For each byte, its class; bytes of one class are never told apart. */
  readonly classes: Uint8Array;
}

type State =
  | { readonly kind: "bytes"; readonly ranges: readonly (ByteRange & { readonly next: number })[] }
  | { readonly kind: "split"; readonly next: number[] }
  | { readonly kind: "assert"; readonly assertion: Assertion; readonly next: number }
  | { readonly kind: "match" };

/** Throws when the program would have too many states, without making it: what is refused must not depend on what is searched. */
export function checkSize(node: Node, statesMax: number = STATES_MAX): void {
  if (weight(node) > statesMax) throw tooLarge();
}

/** About how many states its program has. */
export function weight(node: Node): number {
  switch (node.kind) {
    case "empty":
      return 0;
    case "assert":
      return 1;
    case "chars":
      // A range beyond ASCII takes a few states, of which many are shared.
      return 1 + (node.ranges.at(-1)! > 127 ? Math.ceil(node.ranges.length / 2) + 4 : 0);
    case "concat":
    case "either":
      return node.of.reduce((sum, each) => sum + weight(each), 1);
    case "repeat":
      return (weight(node.of) + 1) * Math.max(1, node.max ?? node.min);
  }
}

function tooLarge(): EngineError {
  return new EngineError(
    "PATTERN_TOO_LARGE",
    "the expression is too large: repeat less, or use smaller classes",
  );
}

interface CompileTerms {
  readonly backward: boolean;
  /** Puts a loop in front that skips bytes, less preferred than starting here. */
  readonly anywhere: boolean;
  /** Called now and then; may throw to stop. */
  readonly checkpoint?: () => void;
}

export function compile(node: Node, terms: CompileTerms): Program {
  return new Compiler(terms).compile(node, terms.anywhere);
}

class Compiler {
  readonly #states: State[] = [];
  readonly #backward: boolean;
  #assertsLines = false;
  #assertsWords = false;
  /** A class that is repeated, or written again, is compiled once, and copied. */
  readonly #compiled = new Map<string, ClassStates>();

  readonly #checkpoint: () => void;

  constructor({ backward, checkpoint }: CompileTerms) {
    this.#backward = backward;
    this.#checkpoint = checkpoint ?? (() => undefined);
  }

  compile(node: Node, anywhere: boolean): Program {
    const match = this.#add({ kind: "match" });
    let start = this.#node(node, match);
    if (anywhere) {
      const split = { kind: "split" as const, next: [start] };
      const loop = this.#add(split);
      split.next.push(this.#add({ kind: "bytes", ranges: [{ from: 0, to: 255, next: loop }] }));
      start = loop;
    }
    return {
      start,
      states: this.#states,
      assertsLines: this.#assertsLines,
      assertsWords: this.#assertsWords,
      classes: this.#classes(),
    };
  }

  #add(state: State): number {
    if (this.#states.length >= STATES_MAX) throw tooLarge();
    return this.#states.push(state) - 1;
  }

  /** The state that matches `node` and then goes on at `next`. */
  #node(node: Node, next: number): number {
    switch (node.kind) {
      case "empty":
        return next;
      case "chars":
        return this.#chars(node.ranges, next);
      case "concat": {
        const order = this.#backward ? node.of : node.of.toReversed();
        return order.reduce((after, each) => this.#node(each, after), next);
      }
      case "either":
        return this.#add({ kind: "split", next: node.of.map((each) => this.#node(each, next)) });
      case "assert":
        if (node.assertion === "word-edge" || node.assertion === "no-word-edge") this.#assertsWords = true;
        else this.#assertsLines = true;
        return this.#add({ kind: "assert", assertion: node.assertion, next });
      case "repeat":
        return this.#repeat(node, next);
    }
  }

  #repeat(node: Extract<Node, { kind: "repeat" }>, next: number): number {
    const { of, min, max, greedy } = node;
    let at = next;
    if (max === undefined) {
      if (min === 0 && isNullable(of)) {
        // With an inside that can be empty, the order of preference comes out right only as an optional one-or-more.
        at = this.#optional(this.#plus(of, greedy, next), next, greedy);
      } else if (min === 0) at = this.#star(of, greedy, next);
      else at = this.#plus(of, greedy, next);
    } else {
      for (let i = min; i < max; i += 1) at = this.#optional(this.#node(of, at), next, greedy);
    }
    const copies = max === undefined ? Math.max(0, min - 1) : min;
    for (let i = 0; i < copies; i += 1) at = this.#node(of, at);
    return at;
  }

  #star(of: Node, greedy: boolean, next: number): number {
    const split: { kind: "split"; next: number[] } = { kind: "split", next: [] };
    const loop = this.#add(split);
    const body = this.#node(of, loop);
    split.next.push(...(greedy ? [body, next] : [next, body]));
    return loop;
  }

  #plus(of: Node, greedy: boolean, next: number): number {
    const split: { kind: "split"; next: number[] } = { kind: "split", next: [] };
    const loop = this.#add(split);
    const body = this.#node(of, loop);
    split.next.push(...(greedy ? [body, next] : [next, body]));
    return body;
  }

  #optional(body: number, next: number, greedy: boolean): number {
    return this.#add({ kind: "split", next: greedy ? [body, next] : [next, body] });
  }

  #chars(ranges: readonly number[], next: number): number {
    this.#checkpoint();
    const key = ranges.join();
    let compiled = this.#compiled.get(key);
    if (compiled === undefined) {
      const sequences = utf8Sequences(ranges);
      if (this.#backward) for (const each of sequences) each.reverse();
      compiled = new ClassStates(sequences);
      this.#compiled.set(key, compiled);
    }
    const base = this.#states.length;
    for (const state of compiled.states)
      this.#add({
        kind: "bytes",
        ranges: state.map(({ from, to, next: at }) => ({ from, to, next: at === NEXT ? next : base + at })),
      });
    return base + compiled.root;
  }

  #classes(): Uint8Array {
    const starts = new Uint8Array(257);
    for (const state of this.#states) {
      if (state.kind !== "bytes") continue;
      for (const { from, to } of state.ranges) {
        starts[from] = 1;
        starts[to + 1] = 1;
      }
    }
    if (this.#assertsLines) starts[10] = starts[11] = 1;
    if (this.#assertsWords) {
      for (const [from, to] of [
        [0x30, 0x39],
        [0x41, 0x5a],
        [0x5f, 0x5f],
        [0x61, 0x7a],
      ] as const) {
        starts[from] = 1;
        starts[to + 1] = 1;
      }
    }
    const classes = new Uint8Array(256);
    let current = 0;
    for (let byte = 1; byte < 256; byte += 1) {
      if (starts[byte] === 1) current += 1;
      classes[byte] = current;
    }
    return classes;
  }
}

type Edge = ByteRange & { readonly next: number };

/** Stands for whatever comes after the class. */
const NEXT = -1;

/** The states of one class of characters, numbered from 0. Tails of byte sequences that lead to the same state are one, so that large classes stay small. */
class ClassStates {
  readonly states: (readonly Edge[])[] = [];
  readonly root: number;
  readonly #tails = new Map<string, number>();

  constructor(sequences: readonly (readonly ByteRange[])[]) {
    this.root = this.#sequences(sequences, 0);
  }

  #sequences(sequences: readonly (readonly ByteRange[])[], depth: number): number {
    const groups = new Map<number, (readonly ByteRange[])[]>();
    for (const each of sequences) {
      const { from, to } = each[depth]!;
      const group = groups.get(from * 256 + to);
      if (group === undefined) groups.set(from * 256 + to, [each]);
      else group.push(each);
    }
    const out = [...groups.values()].map((group) => {
      const { from, to } = group[0]![depth]!;
      const longer = group.filter((each) => each.length > depth + 1);
      return { from, to, next: longer.length === 0 ? NEXT : this.#sequences(longer, depth + 1) };
    });
    const key = out.map((each) => `${each.from},${each.to},${each.next}`).join(";");
    const known = this.#tails.get(key);
    if (known !== undefined) return known;
    const state = this.states.push(out) - 1;
    this.#tails.set(key, state);
    return state;
  }
}
