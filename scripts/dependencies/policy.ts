/** What may be depended on: licences, and versions that are known to be bad. A package that is none of it needs a decision here, with its reason. */

/** Free to use, change and pass on with our own licence, with at most a notice. */
export const LICENCES: ReadonlySet<string> = new Set([
  "MIT",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "0BSD",
  "Unlicense",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "Python-2.0",
]);

/** Other licences, for tools that are used while building or testing and of which nothing is passed on. */
export const LICENCES_OF_TOOLS: Readonly<Record<string, string>> = {
  lightningcss: "MPL-2.0",
};

/** Releases that carried malware, or were broken on purpose, by name. */
export const KNOWN_BAD: Readonly<Record<string, readonly string[]>> = {
  "ansi-regex": ["6.2.1"],
  "ansi-styles": ["6.2.2"],
  chalk: ["5.6.1"],
  "color-convert": ["3.1.1"],
  "color-name": ["2.0.1"],
  "color-string": ["2.1.1"],
  coa: ["2.0.3", "2.0.4", "2.1.1", "2.1.3", "3.0.1", "3.1.3"],
  colors: ["1.4.1", "1.4.2", "1.4.44-liberty-2"],
  debug: ["4.4.2"],
  "error-ex": ["1.3.3"],
  "eslint-config-prettier": ["8.10.1", "9.1.1", "10.1.6", "10.1.7"],
  "eslint-scope": ["3.7.2"],
  "event-stream": ["3.3.6"],
  faker: ["6.6.6"],
  "flatmap-stream": ["0.1.1"],
  "is-arrayish": ["0.3.3"],
  "node-ipc": ["9.2.2", "10.1.1", "10.1.2", "10.1.3", "11.0.0"],
  rc: ["1.2.9", "1.3.9", "2.3.9"],
  "simple-swizzle": ["0.2.3"],
  "slice-ansi": ["7.1.1"],
  "strip-ansi": ["7.1.1"],
  "supports-color": ["10.2.1"],
  "supports-hyperlinks": ["4.1.1"],
  "ua-parser-js": ["0.7.29", "0.8.0", "1.0.0"],
  "wrap-ansi": ["9.0.1"],
};

/** Need a compiler, or download something, when they are installed. */
export const COMPILES: ReadonlySet<string> = new Set([
  "node-gyp",
  "node-pre-gyp",
  "@mapbox/node-pre-gyp",
  "prebuild-install",
  "better-sqlite3",
  "re2",
  "hnswlib-node",
  "roaring",
  "node-sass",
  "puppeteer",
  "playwright",
]);
