// Makes a fresh clone runnable: the right Node, the locked dependencies, an up-to-date build.
// It uses nothing but Node itself, because it runs before anything is installed. When nothing has
// changed it costs a fraction of a second. Progress goes to stderr, so that output can be piped.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const stamp = join(modules, ".keelson-lock-hash");

/** The oldest Node that every dependency supports; the same as `engines` in package.json. */
const nodeMin = [20, 19];

/** Whose programs serve the console, or test that they do. */
const WITH_CONSOLE = new Set(["apps/cli", "tsconfig.build.json"]);

/** Brings dependencies and build up to date, or exits with a clear line. `project` is the one to build, with what it needs; left out, all are. */
export function setup(project = "tsconfig.build.json") {
  install();
  runStep("build", tool("typescript", "bin/tsc"), ["-b", project]);
  if (WITH_CONSOLE.has(project)) runStep("console", join(root, "apps/console/scripts/build.mjs"), []);
}

/** Brings dependencies up to date, without building. */
export function install() {
  checkNode();
  const hash = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return;
  if (!matchesLock()) {
    // npm would otherwise weigh the age of versions that the lock file has already chosen.
    process.stderr.write("keelson: installing dependencies (npm ci)\n");
    runStep("npm ci", npmFile(), [
      "ci",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      "--min-release-age=0",
    ]);
  }
  writeFileSync(stamp, hash);
}

/**
 * Runs one Node program, prints its name and time, and exits with its code if it fails.
 * What the program prints goes to `output`, by default where the progress goes.
 */
export function runStep(name, file, args, output = process.stderr) {
  const startedAt = performance.now();
  const result = spawnSync(process.execPath, [file, ...args], {
    cwd: root,
    stdio: ["inherit", output.fd, "inherit"],
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const code = exitCode(result);
  if (code === 0) {
    process.stderr.write(`keelson: ${name} ${seconds} s\n`);
    return;
  }
  const why = result.error === undefined ? `exit ${code}` : result.error.message;
  process.stderr.write(`keelson: ${name} FAILED after ${seconds} s (${why})\n`);
  process.exit(code);
}

/** The file of an installed tool that Node can run. */
export function tool(name, path) {
  return join(modules, name, path);
}

/** npm names its own file to the scripts it runs; without it, npm sits beside Node or one folder up. */
function npmFile() {
  const bin = dirname(process.execPath);
  const places = [
    process.env.npm_execpath,
    join(bin, "../lib/node_modules/npm/bin/npm-cli.js"),
    join(bin, "node_modules/npm/bin/npm-cli.js"),
  ];
  const found = places.find((file) => file !== undefined && file.endsWith("npm-cli.js") && existsSync(file));
  if (found !== undefined) return found;
  process.stderr.write("keelson: cannot find npm; run `npm ci` once, or start this through `npm run`\n");
  process.exit(1);
}

function exitCode({ status, signal, error }) {
  if (error !== undefined) return 1;
  return status ?? 128 + (constants.signals[signal] ?? 0);
}

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1])) return;
  process.stderr.write(
    `keelson: needs Node ${nodeMin.join(".")} or newer; this is ${process.versions.node}. See https://nodejs.org/\n`,
  );
  process.exit(1);
}

/**
 * True when what npm says it installed is what the lock file asks for, as it is right after
 * `npm install <package>`. Saves a reinstall under the feet of whoever else uses this tree.
 */
function matchesLock() {
  const installedFile = join(modules, ".package-lock.json");
  if (!existsSync(installedFile)) return false;
  const locked = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  const installed = JSON.parse(readFileSync(installedFile, "utf8")).packages;
  return Object.entries(locked).every(([path, want]) => {
    if (!path.includes("node_modules/")) return true;
    const have = installed[path];
    if (have === undefined) return want.optional === true || want.devOptional === true;
    return have.version === want.version && have.resolved === want.resolved && existsSync(join(root, path));
  });
}
