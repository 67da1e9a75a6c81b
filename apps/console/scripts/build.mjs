// Builds the console into dist/web, unless what is there was built from the same files by the same tools. It costs a few
// milliseconds when nothing has changed, so that every start may run it. Types are tsc's affair.

import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(folder, "dist/web/.built-from");

const sources = [
  join(folder, "index.html"),
  join(folder, "package.json"),
  join(folder, "vite.config.ts"),
  join(folder, "../../node_modules/vite/package.json"),
  join(folder, "../../node_modules/preact/package.json"),
  ...readdirSync(join(folder, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name)),
].sort();
const hash = createHash("sha256");
for (const file of sources) hash.update(file.slice(folder.length)).update("\0").update(readFileSync(file));
const wanted = hash.digest("hex");

if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
  const { build } = await import("vite");
  await build({ root: folder, configFile: join(folder, "vite.config.ts"), logLevel: "warn" });
  writeFileSync(stamp, wanted);
}
