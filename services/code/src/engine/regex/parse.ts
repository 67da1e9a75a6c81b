/**
 * Reads RE2's syntax. What RE2 refuses (back-references, look-around, repetition above 1000, `**`) is refused here too, with the place. Flags i, m, s and U
 * may be set inside; groups only group.
 */
import { EngineError } from "../errors.ts";
import { CODE_POINT_MAX, without } from "./char-set.ts";
import { foldSet } from "./case-fold.ts";
import { perlClass, readBracket, readEscape, readUnicodeClass, type Cursor } from "./parse-class.ts";
import { EMPTY, type Node } from "./syntax.ts";

export interface ParseOptions {
  readonly caseSensitive: boolean;
  /** Every line is a text of its own, without its line break: `^`, `$`, `\A` and `\z` anchor lines, and nothing matches a line break. */
  readonly withinLines?: boolean;
  /** Only whether it is a good expression; what comes back stands for nothing. Quick enough for an event loop. */
  readonly syntaxOnly?: boolean;
  /** Called between parts; may throw to stop. */
  readonly checkpoint?: () => void;
}

const REPEAT_MAX = 1000;
/** Of `{12,345}`; what has more digits repeats more often than anyone may. */
const BOUNDS_CHARACTERS_MAX = 40;
const DEPTH_MAX = 250;

interface Flags {
  readonly fold: boolean;
  readonly lines: boolean;
  readonly dotAll: boolean;
  readonly swapGreed: boolean;
}

export function parseRegex(pattern: string, options: ParseOptions): Node {
  return new Parser(pattern, options).parse();
}

class Parser implements Cursor {
  readonly chars: readonly string[];
  readonly syntaxOnly: boolean;
  readonly checkpoint: () => void;
  at = 0;
  readonly #options: ParseOptions;
  #flags: Flags;
  #depth = 0;
  /** Repetitions of repetitions that no group holds apart, such as `a*(?i)*`. */
  #stacked = 0;

  constructor(pattern: string, options: ParseOptions) {
    this.chars = Array.from(pattern);
    this.#options = options;
    this.syntaxOnly = options.syntaxOnly === true;
    this.checkpoint = options.checkpoint ?? (() => undefined);
    this.#flags = {
      fold: !options.caseSensitive && !this.syntaxOnly,
      lines: options.withinLines === true,
      dotAll: false,
      swapGreed: false,
    };
  }

  parse(): Node {
    const node = this.#either();
    if (this.at < this.chars.length) this.fail("unexpected )");
    return node;
  }

  fail(message: string, at = this.at): never {
    throw new EngineError("BAD_PATTERN", `${message} at character ${at + 1} of the expression`, at);
  }

  /** `text` is ASCII. */
  eat(text: string): boolean {
    for (let i = 0; i < text.length; i += 1) if (this.chars[this.at + i] !== text[i]) return false;
    this.at += text.length;
    return true;
  }

  #either(): Node {
    if (++this.#depth > DEPTH_MAX) this.fail("groups are nested too deeply");
    const of = [this.#concat()];
    while (this.eat("|")) of.push(this.#concat());
    this.#depth -= 1;
    return of.length === 1 ? of[0]! : { kind: "either", of };
  }

  #concat(): Node {
    const of: Node[] = [];
    while (this.at < this.chars.length) {
      const char = this.chars[this.at];
      if (char === "|" || char === ")") break;
      const start = this.at;
      if (this.#opensRepetition()) {
        // Right behind an atom it was read with that; between the two is nothing but flags or an empty quotation, which are no atoms.
        const last = of.pop();
        if (last === undefined) this.fail(`nothing to repeat before ${char}`);
        if (last.kind === "repeat" && ++this.#stacked > DEPTH_MAX)
          this.fail("repetitions are nested too deeply");
        of.push(this.#repeated(last, start));
        continue;
      }
      if (this.eat("\\Q")) {
        this.#quoted(of);
        continue;
      }
      const atom = this.#atom();
      if (atom !== undefined) of.push(this.#repeated(atom, start));
    }
    if (of.length === 0) return EMPTY;
    return of.length === 1 ? of[0]! : { kind: "concat", of };
  }

  #quoted(of: Node[]): void {
    while (this.at < this.chars.length && !this.eat("\\E"))
      of.push(this.#literal(this.chars[this.at++]!.codePointAt(0)!));
  }

  #opensRepetition(): boolean {
    const start = this.at;
    const found = this.#bounds() !== undefined;
    this.at = start;
    return found;
  }

  #repeated(atom: Node, start: number): Node {
    let node = atom;
    let before: string | undefined;
    for (;;) {
      const opened = this.at;
      const bounds = this.#bounds();
      if (bounds === undefined) return node;
      if (before !== undefined) this.fail("one repetition follows another", opened);
      before = "seen";
      const lazy = this.eat("?");
      if (
        bounds.min > REPEAT_MAX ||
        (bounds.max ?? 0) > REPEAT_MAX ||
        (bounds.max ?? bounds.min) < bounds.min
      )
        this.fail("a repetition must be at most 1000, from low to high", start);
      node = { kind: "repeat", of: node, ...bounds, greedy: lazy === this.#flags.swapGreed };
    }
  }

  #bounds(): { min: number; max: number | undefined } | undefined {
    if (this.eat("*")) return { min: 0, max: undefined };
    if (this.eat("+")) return { min: 1, max: undefined };
    if (this.eat("?")) return { min: 0, max: 1 };
    const digit = this.chars[this.at + 1] ?? "";
    if (this.chars[this.at] !== "{" || digit < "0" || digit > "9") return undefined;
    // Only so far: each of thousands of braces that close nothing would be looked behind to the end.
    const text = this.chars.slice(this.at, this.at + BOUNDS_CHARACTERS_MAX).join("");
    const match = /^\{(?<min>\d+)(?:(?<comma>,)(?<max>\d*))?\}/.exec(text);
    if (match === null) {
      if (text.length >= BOUNDS_CHARACTERS_MAX && /^\{\d+,?\d*$/.test(text))
        this.fail("a repetition must be at most 1000, from low to high");
      return undefined;
    }
    const found = match.groups!;
    this.at += match[0].length;
    const min = Number(found["min"]);
    const max = found["max"] ?? "";
    if (found["comma"] === undefined) return { min, max: min };
    return { min, max: max === "" ? undefined : Number(max) };
  }

  /** Undefined for what only sets flags. */
  #atom(): Node | undefined {
    const char = this.chars[this.at]!;
    this.checkpoint();
    switch (char) {
      case "(":
        return this.#group();
      case "[":
        return this.#set(readBracket(this, this.#flags.fold));
      case ".":
        this.at += 1;
        return this.#set(this.#flags.dotAll ? [0, CODE_POINT_MAX] : without([0, CODE_POINT_MAX], 10));
      case "^":
        this.at += 1;
        return this.#edge("start", this.#flags.lines);
      case "$":
        this.at += 1;
        return this.#edge("end", this.#flags.lines);
      case "\\":
        return this.#escaped();
      default:
        this.at += 1;
        return this.#literal(char.codePointAt(0)!);
    }
  }

  /** Of a line, or of the text, which are the same where every line is one. */
  #edge(side: "start" | "end", ofLine: boolean): Node {
    const lines = ofLine || this.#options.withinLines === true;
    return { kind: "assert", assertion: lines ? `line-${side}` : `text-${side}` };
  }

  #escaped(): Node {
    const next = this.chars[this.at + 1];
    if (next === "A" || next === "z") {
      this.at += 2;
      return this.#edge(next === "A" ? "start" : "end", false);
    }
    const assertion = ({ b: "word-edge", B: "no-word-edge" } as const)[next ?? ""];
    if (assertion !== undefined) {
      this.at += 2;
      return { kind: "assert", assertion };
    }
    const perl = next === undefined ? undefined : perlClass(next, this.#flags.fold);
    if (perl !== undefined) {
      this.at += 2;
      return this.#set(perl);
    }
    if (next === "p" || next === "P") return this.#set(readUnicodeClass(this, this.#flags.fold));
    return this.#literal(readEscape(this));
  }

  #literal(codePoint: number): Node {
    const one = [codePoint, codePoint];
    return this.#set(this.#flags.fold ? foldSet(one, this.checkpoint) : one, this.#flags.fold);
  }

  #set(ranges: readonly number[], folded = this.#flags.fold): Node {
    const kept = this.#options.withinLines === true ? without(ranges, 10) : ranges;
    return { kind: "chars", ranges: kept, folded };
  }

  #group(): Node | undefined {
    const opened = this.at;
    this.at += 1;
    const outer = this.#flags;
    if (this.eat("?")) {
      if (this.eat("P<") || (this.chars[this.at] === "<" && this.eat("<"))) this.#name(opened);
      else {
        const only = this.#setFlags(opened);
        if (only) return undefined;
      }
    }
    const node = this.#either();
    if (!this.eat(")")) this.fail("missing )", opened);
    this.#flags = outer;
    return node;
  }

  #name(opened: number): void {
    const close = this.chars.indexOf(">", this.at);
    const name = close === -1 ? "" : this.chars.slice(this.at, close).join("");
    if (!/^\w+$/.test(name)) this.fail("a group's name is made of letters, digits and _", opened);
    this.at = close + 1;
  }

  /** True when the group ends here and the flags hold for the rest of the group around it. */
  #setFlags(opened: number): boolean {
    let on = true;
    let seen = false;
    const change: Partial<Record<keyof Flags, boolean>> = {};
    for (;;) {
      const char = this.chars[this.at++];
      if (char === "i") change.fold = on && !this.syntaxOnly;
      else if (char === "m") change.lines = on;
      else if (char === "s") change.dotAll = on;
      else if (char === "U") change.swapGreed = on;
      else if (char === "-" && on) {
        on = false;
        seen = false;
        continue;
      } else if ((char === ":" || char === ")") && (on || seen)) {
        this.#flags = { ...this.#flags, ...change };
        return char === ")";
      } else this.fail("this kind of group is not supported", opened);
      seen = true;
    }
  }
}
