// A file of the repository, and its text with everything that is not code blanked out.
// Not a parser: it knows comments, strings, templates and (by what stands before them) regular expressions,
// which is enough to look for words in code without finding them in prose.

export interface SourceFile {
  /** Relative to the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

export function isCode(path: string): boolean {
  return /\.(?:[cm]?[jt]s|tsx)$/.test(path);
}

export function isTest(path: string): boolean {
  return /\.test\.tsx?$/.test(path);
}

export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

/**
 * The text with comments and the contents of strings, templates and regular expressions replaced by spaces.
 * Quotes, line breaks and all offsets stay where they are; code inside `${…}` stays code.
 */
export function maskProse(text: string): string {
  let masked = "";
  let at = 0;
  /** For each template being read, how many braces are open in its current `${…}`. */
  const templates: number[] = [];

  const blankUntil = (end: number): void => {
    masked += text.slice(at, end).replaceAll(/[^\n]/g, " ");
    at = end;
  };
  const keep = (length: number): void => {
    masked += text.slice(at, at + length);
    at += length;
  };
  const readQuoted = (closing: RegExp): void => {
    keep(1);
    const end = endOf(text, at, closing);
    blankUntil(end);
    if (at < text.length && text[at] !== "\n") keep(1);
  };
  const readTemplate = (): void => {
    const end = endOf(text, at, /`|\$\{/y);
    blankUntil(end);
    if (text.startsWith("${", at)) {
      templates.push(0);
      keep(2);
    } else if (at < text.length) {
      keep(1);
    }
  };

  while (at < text.length) {
    const char = text.charAt(at);
    const depth = templates.at(-1);
    if (text.startsWith("//", at)) blankUntil(indexOrEnd(text, "\n", at));
    else if (text.startsWith("/*", at)) blankUntil(Math.min(text.length, indexOrEnd(text, "*/", at + 2) + 2));
    else if (char === "'") readQuoted(/['\n]/y);
    else if (char === '"') readQuoted(/["\n]/y);
    else if (char === "/" && startsRegex(masked)) readQuoted(/[/\n]/y);
    else if (char === "`") {
      keep(1);
      readTemplate();
    } else if (char === "}" && depth === 0) {
      templates.pop();
      keep(1);
      readTemplate();
    } else {
      if (depth !== undefined && char === "{") templates[templates.length - 1] = depth + 1;
      if (depth !== undefined && char === "}") templates[templates.length - 1] = depth - 1;
      keep(1);
    }
  }
  return masked;
}

/** The offset of the first unescaped match at or after `from`, or the end of the text. */
function endOf(text: string, from: number, closing: RegExp): number {
  let inClass = false;
  for (let at = from; at < text.length; at += 1) {
    const char = text[at];
    if (char === "\\") {
      at += 1;
      continue;
    }
    if (closing.source.startsWith("[/")) {
      if (char === "[") inClass = true;
      else if (char === "]") inClass = false;
      if (inClass && char !== "\n") continue;
    }
    closing.lastIndex = at;
    if (closing.test(text)) return at;
  }
  return text.length;
}

/** A slash divides after a value, and starts a regular expression after anything else. */
function startsRegex(before: string): boolean {
  return /(?:^|[(,=:[!&|?{};+\-*%~^<>]|\b(?:return|typeof|case|in|of|void|throw|await|yield))\s*$/.test(
    before.slice(-40),
  );
}

function indexOrEnd(text: string, search: string, from: number): number {
  const found = text.indexOf(search, from);
  return found === -1 ? text.length : found;
}
