import { mkdir, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { benches } from "./catalogue.ts";
import { benchCommand } from "./command.ts";

/** Beside `src` and `dist`; not committed. */
const results = join(import.meta.dirname, "..", "results");

process.exitCode = await benchCommand(benches, process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  progress: (text) => process.stderr.write(`${text}\n`),
  async save(name, result) {
    const file = join(results, `${name}.json`);
    await mkdir(results, { recursive: true });
    await writeFile(file, `${JSON.stringify(result, null, 2)}\n`);
    return relative(process.cwd(), file);
  },
});
