/** What we depend on, read from the lock file: licences that are allowed, nothing that is known to be bad, nothing left out, and nothing that compiles, downloads or runs a script to be installed. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { foreign, found, missing, nameOf, type LockFile } from "./lock-file.ts";
import { COMPILES, KNOWN_BAD, LICENCES, LICENCES_OF_TOOLS } from "./policy.ts";

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8");
const lock = JSON.parse(read("package-lock.json")) as LockFile;
const root = JSON.parse(read("package.json")) as { allowScripts: Record<string, boolean> };

/** "(MIT OR CC0-1.0)" lets one choose; "MIT AND ISC" does not. */
function isAllowed(licence: string | undefined): boolean {
  if (licence === undefined) return false;
  const bare = licence.replaceAll(/[()]/g, "");
  return bare
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((each) => LICENCES.has(each.trim())));
}

/** A tool's binaries for each platform come as packages of their own. */
const isTool = (name: string, licence: string | undefined): boolean =>
  Object.entries(LICENCES_OF_TOOLS).some(
    ([tool, its]) => (name === tool || name.startsWith(`${tool}-`)) && licence === its,
  );

test("every package has a licence that is allowed", () => {
  expect(foreign(lock).length).toBeGreaterThan(100);
  const wrong = foreign(lock)
    .filter(([path, { license }]) => !isAllowed(license) && !isTool(nameOf(path), license))
    .map(([path, { license }]) => `${nameOf(path)}: ${license ?? "none stated"}`);
  expect(wrong).toEqual([]);
});

test.each([
  ["MIT", true],
  ["(MIT OR GPL-3.0-only)", true],
  ["MIT AND GPL-3.0-only", false],
  ["GPL-3.0-only", false],
  ["AGPL-3.0-or-later", false],
  ["SEE LICENSE IN LICENSE", false],
  [undefined, false],
])("the licence %s is allowed: %s", (licence, allowed) => {
  expect(isAllowed(licence)).toBe(allowed);
});

test("no release is in use that is known to be bad", () => {
  const bad = foreign(lock)
    .filter(([path, { version = "" }]) => KNOWN_BAD[nameOf(path)]?.includes(version) === true)
    .map(([path, { version }]) => `${nameOf(path)}@${version ?? ""}`);
  expect(bad).toEqual([]);
});

test("the lock file has everything that is asked for, for every platform, with its checksum and no address", () => {
  expect(lock.lockfileVersion).toBe(3);
  expect(missing(lock)).toEqual([]);
  const unchecked = foreign(lock).filter(([, { integrity }]) => integrity?.startsWith("sha512-") !== true);
  expect(unchecked.map(([path]) => path)).toEqual([]);
  const addressed = foreign(lock).filter(([, { resolved }]) => resolved !== undefined);
  expect(addressed.map(([path]) => path)).toEqual([]);
});

test("a lock file that lacks another platform's binary is noticed", () => {
  const [path, binary] = foreign(lock).find(([, { optional }]) => optional === true) ?? [];
  expect(binary).toBeDefined();
  const { [path!]: _, ...packages } = lock.packages;
  expect(missing({ ...lock, packages }).join("\n")).toContain(nameOf(path!));
  expect(found(lock, "apps/cli", "commander")).toBe("node_modules/commander");
});

test("nothing runs a script, compiles or downloads to be installed", () => {
  const scripted = foreign(lock)
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => nameOf(path));
  // Each was found to work without its script; npm runs none of them.
  expect(scripted.filter((name) => root.allowScripts[name] !== false)).toEqual([]);
  expect(Object.values(root.allowScripts)).not.toContain(true);
  expect(
    foreign(lock)
      .filter(([path]) => COMPILES.has(nameOf(path)))
      .map(([path]) => path),
  ).toEqual([]);
});
