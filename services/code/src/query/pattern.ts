/**
 * What can be said of a regular expression without compiling it: whether it is only text in disguise, and whether it has an uppercase letter that somebody
 * meant. It does not judge whether the expression is a good one; the engine does.
 */
interface PatternFacts {
  /** The text that the expression stands for, if it matches nothing else. */
  readonly literal: string | undefined;
  /** An uppercase letter to be matched, as opposed to one that belongs to an escape, a flag or a group's name. */
  readonly uppercase: boolean;
}

const CONTROL: Readonly<Record<string, string>> = {
  a: "\u0007",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

export function examinePattern(pattern: string): PatternFacts {
  return new Examiner(pattern).examine();
}

/** True when some letter would be another one in lowercase. */
export function hasUppercase(text: string): boolean {
  return text !== text.toLowerCase();
}

class Examiner {
  readonly #pattern: string;
  #literal: string | undefined = "";
  /** So far there is nothing that could match a character or a place: `|`, `(?i)`. */
  #empty = true;
  #uppercase = false;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  examine(): PatternFacts {
    while (this.#at < this.#pattern.length) this.#step();
    return { literal: this.#empty ? "" : this.#literal, uppercase: this.#uppercase };
  }

  #step(): void {
    const pattern = this.#pattern;
    const c = pattern[this.#at]!;
    switch (c) {
      case "\\":
        this.#escape();
        return;
      case "[":
        this.#class();
        return;
      case "(":
        this.#group();
        return;
      case ")":
        this.#at++;
        // A repeated group is no text; anything else that follows is looked at by itself.
        return;
      case "{":
        if (
          /\d/.test(pattern[this.#at + 1] ?? "") &&
          /^\{\d+(?:,\d*)?\}/.test(pattern.slice(this.#at, this.#at + 16))
        )
          this.#literal = undefined;
        this.#text(c);
        return;
      case ".":
      case "^":
      case "$":
        this.#empty = false;
        this.#literal = undefined;
        this.#at++;
        return;
      case "*":
      case "+":
      case "?":
      case "|":
        this.#literal = undefined;
        this.#at++;
        return;
      default:
        this.#text(c);
    }
  }

  #text(c: string): void {
    this.#at += c.length;
    this.#found(c);
  }

  #found(c: string): void {
    this.#empty = false;
    if (hasUppercase(c)) this.#uppercase = true;
    if (this.#literal !== undefined) this.#literal += c;
  }

  #escape(): void {
    const rest = this.#pattern.slice(this.#at + 1, this.#at + 16);
    const c = rest[0] ?? "";
    const hex = /^x(?:\{([0-9a-fA-F]{1,8})\}|([0-9a-fA-F]{2}))/.exec(rest);
    if (hex) {
      const code = Number.parseInt(hex[1] ?? hex[2] ?? "0", 16);
      this.#at += 1 + hex[0].length;
      if (code <= 0x10ffff) this.#found(String.fromCodePoint(code));
      return;
    }
    if (c === "Q") {
      const from = this.#at + 2;
      const close = this.#pattern.indexOf("\\E", from);
      const end = close < 0 ? this.#pattern.length : close;
      for (const each of this.#pattern.slice(from, end)) this.#found(each);
      this.#at = close < 0 ? end : close + 2;
      return;
    }
    const octal = /^[0-7]{1,3}/.exec(rest);
    if (octal && (octal[0].length > 1 || c === "0")) {
      this.#at += 1 + octal[0].length;
      this.#found(String.fromCodePoint(Number.parseInt(octal[0], 8)));
      return;
    }
    const property = /^[pP](?:\{[^}]*\}?|.)/.exec(this.#pattern.slice(this.#at + 1, this.#at + 64));
    this.#at += 1 + (property ? property[0].length : c.length);
    if (!property && Object.hasOwn(CONTROL, c)) this.#found(CONTROL[c]!);
    else if (!property && c !== "" && !/[A-Za-z0-9]/.test(c)) this.#found(c);
    else {
      this.#empty = false;
      this.#literal = undefined;
    }
  }

  #class(): void {
    this.#empty = false;
    this.#literal = undefined;
    const pattern = this.#pattern;
    this.#at++;
    if (pattern[this.#at] === "^") this.#at++;
    // A bracket that comes first is a member.
    if (pattern[this.#at] === "]") this.#at++;
    while (this.#at < pattern.length && pattern[this.#at] !== "]") {
      const named = /^\[:\^?[a-z]+:\]/.exec(pattern.slice(this.#at, this.#at + 16));
      if (named) {
        this.#at += named[0].length;
        if (named[0] === "[:upper:]") this.#uppercase = true;
      } else if (pattern[this.#at] === "\\") this.#escape();
      else this.#text(pattern[this.#at]!);
    }
    this.#at++;
  }

  /** Groups that only group vanish; flags and names are no letters that anybody looks for. */
  #group(): void {
    const head = /^\((?:\?(?:P?<[^>]*>|[a-zA-Z-]*:?))?/.exec(this.#pattern.slice(this.#at, this.#at + 128));
    const text = head?.[0] ?? "(";
    this.#at += text.length;
    if (text !== "(" && text !== "(?:" && !text.endsWith(">")) this.#literal = undefined;
  }
}
