import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { projectRepository } from "./project-repository.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keelson-project-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function git(...args: string[]): string {
  return execFileSync("git", args, { encoding: "utf8" });
}

/** A project with a source file and a folder that is ignored. */
function project(): string {
  const root = join(folder, "project");
  mkdirSync(join(root, "node_modules"), { recursive: true });
  writeFileSync(join(root, "package.json"), "{}");
  writeFileSync(join(root, "main.ts"), "export {};\n");
  writeFileSync(join(root, ".gitignore"), "node_modules/\n");
  writeFileSync(join(root, "node_modules", "other.js"), "");
  return root;
}

function filesOf(repository: string): string[] {
  return git("--git-dir", repository, "ls-tree", "-r", "--name-only", "HEAD").trim().split("\n");
}

test("a clone with a commit is searched as it is", async () => {
  const root = project();
  git("init", "--quiet", root);
  git("-C", root, "add", ".");
  git("-C", root, "-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "--quiet", "-m", "first");
  expect(await projectRepository(join(folder, "data"), root)).toBe(root);
});

test("a folder that is no clone becomes a repository of one commit, without what is ignored", async () => {
  const repository = await projectRepository(join(folder, "data"), project());
  expect(filesOf(repository)).toEqual([".gitignore", "main.ts", "package.json"]);
});

test("a folder inside of another repository, and a clone without a commit, become one as well", async () => {
  const root = project();
  git("init", "--quiet", folder);
  expect(filesOf(await projectRepository(join(folder, "one"), root))).toContain("main.ts");
  git("init", "--quiet", root);
  expect(filesOf(await projectRepository(join(folder, "two"), root))).toContain("main.ts");
});

test("a second time in the same data folder takes the files as they are then", async () => {
  const root = project();
  await projectRepository(join(folder, "data"), root);
  writeFileSync(join(root, "later.ts"), "");
  expect(filesOf(await projectRepository(join(folder, "data"), root))).toContain("later.ts");
});
