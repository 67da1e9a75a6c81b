// The import statements of a file, in whichever form: static, side effect, re-export, dynamic.

import { lineAt, maskProse, type SourceFile } from "./source.ts";

export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** `import type` and `export type` vanish when the file is compiled. */
  readonly typeOnly: boolean;
}

/** Each form up to the quote that opens the specifier. Contents of strings are blank here, so no other quote can come first. */
const statement =
  /(?<![.\w$])(?:(?<typed>import\s+type|export\s+type)\b[^;'"`()]*?\bfrom\s*|(?:import|export)\b[^;'"`()=]*?\bfrom\s*|import\s*\(?\s*)['"]/g;

export function importsOf(file: SourceFile): Import[] {
  const masked = maskProse(file.text);
  return Array.from(masked.matchAll(statement), (match) => {
    const start = match.index + match[0].length;
    const end = masked.slice(start).search(/['"\n]/);
    return {
      specifier: file.text.slice(start, end === -1 ? undefined : start + end),
      line: lineAt(file.text, start),
      typeOnly: match.groups?.["typed"] !== undefined,
    };
  });
}
