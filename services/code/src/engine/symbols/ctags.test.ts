import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SystemClock } from "@keelson/runtime";
import { ensureServers } from "@keelson/testkit/servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEngine } from "../local/open-engine.ts";
import { openCtags } from "./ctags.ts";
import { spansOf } from "./spans.ts";

const clock = new SystemClock();
// `npm test` has it installed by then; a single run installs it, or says what to install.
beforeAll(() => ensureServers(["ctags"]), 300_000);

test("places names on their lines as whole words, in order, and leaves out what is not there", () => {
  const content = Buffer.from("xFoo = Foo(Bar)\nint Bar, Foo;\n");
  const tag = (name: string, line: number) => ({ name, line, kind: "k", parent: "", parentKind: "" });
  const spans = spansOf(content, [
    tag("Bar", 2),
    tag("Foo", 1),
    tag("Gone", 1),
    tag("Foo", 2),
    tag("Foo", 9),
  ]);
  expect(spans.map(({ start, end }) => content.toString("utf8", start, end) + start)).toEqual([
    "Foo7",
    "Bar20",
    "Foo25",
  ]);
});

test("without the program there is no reader", async () => {
  expect(await openCtags(clock, "keelson-no-such-program")).toBeUndefined();
});

/** A program that says what ctags says at the start, and then does this with each line that it is sent. */
function broken(body: string): string {
  const folder = mkdtempSync(join(tmpdir(), "keelson-ctags-"));
  folders.push(folder);
  const file = join(folder, "ctags");
  const ready = `console.log('{"_type": "program", "name": "Universal Ctags"}');`;
  writeFileSync(file, `#!${process.execPath}\n${ready}\nprocess.stdin.on("data", () => { ${body} });\n`);
  chmodSync(file, 0o755);
  return file;
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

test.each([
  ["hangs", ""],
  ["ends", "process.exit(1);"],
  ["writes without end", "for (;;) require('fs').writeSync(1, '\\n'.repeat(65536));"],
  ["writes a line without end", "for (;;) require('fs').writeSync(1, 'x'.repeat(65536));"],
])(
  "a program that %s gives no symbols, and is left alone after eight files",
  async (_, body) => {
    let waits = 0;
    let factor = 1;
    const hurried = {
      now: () => clock.now(),
      wall: () => clock.wall(),
      after(ms: number, run: () => void) {
        waits += 1;
        return clock.after(ms * factor, run);
      },
    };
    const tried = await openCtags(hurried, broken(body));
    expect(tried).toBeDefined();
    // It has half a second for a file, and to start again.
    factor = 0.1;
    for (let i = 0; i < 8; i += 1) expect(await tried?.read("a.c", Buffer.from("int a;\n"))).toEqual([]);
    const before = waits;
    for (let i = 0; i < 1000; i += 1) expect(await tried?.read("a.c", Buffer.from("int a;\n"))).toEqual([]);
    expect(waits).toBe(before);
    tried?.close();
  },
  60_000,
);

test("adds symbols to an index in a second pass, sharing its text", async () => {
  const engine = openEngine({ memoryBytes: 16 * 1024 * 1024, workers: 1 }, { clock });
  const reader = await openCtags(clock);
  expect(reader).toBeDefined();
  if (reader === undefined) return;
  const content = Buffer.from(
    "package a\n\ntype Thing struct{ Size int }\n\nfunc (t Thing) Grow() {}\n// Grow it\n",
  );
  const documents = [
    { path: "a.go", oid: "00".repeat(20), branches: ["main"], content },
    {
      path: 'hostile "\n name.c',
      oid: "01".repeat(20),
      branches: ["main"],
      content: Buffer.from("int grow(void) { return 1; }\n"),
    },
  ];
  const index = await engine.build(documents, { branches: ["main"] });
  const withSymbols = await engine.addSymbols(index, reader);
  index.release();
  const grow = { kind: "substring", text: "grow", caseSensitive: false, scope: "content" } as const;
  const found = await withSymbols?.search({ kind: "symbol", of: grow });
  expect(found?.files.map((file) => [file.path, file.lines.map((line) => line.line)])).toEqual([
    ["a.go", [5]],
    ['hostile "\n name.c', [1]],
  ]);
  expect(found?.files[0]?.lines[0]?.ranges[0]?.symbol).toMatchObject({ name: "Grow", kind: "func" });
  expect(await engine.addSymbols(withSymbols!, reader)).toBeUndefined();
  withSymbols?.release();
  expect(engine.memory.usedBytes).toBe(0);
  reader.close();
  await engine.close();
});
