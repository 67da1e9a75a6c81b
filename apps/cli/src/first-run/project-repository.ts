/**
 * The project's own source as something that code search can clone: the clone that this command runs from, or, when its folder is none (a downloaded archive, a
 * copy), a repository with one commit of it, made in the data folder. What .gitignore leaves out stays out.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { RunError } from "../failure.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 60_000;

/** The root of the project: this file is in apps/cli/src/first-run, or in apps/cli/dist/first-run. */
const PROJECT_FOLDER = fileURLToPath(new URL("../../../../", import.meta.url));

/** A folder that git can clone from. `folder` is where one is made if need be. */
export async function projectRepository(folder: string, project = PROJECT_FOLDER): Promise<string> {
  if (!existsSync(join(project, "package.json")))
    throw new RunError(`there is no source of Keelson at ${project} to show`);
  return (await isClone(project)) ? project : snapshot(project, folder);
}

/** Its own clone with a commit, and not merely a folder inside of another repository. */
async function isClone(project: string): Promise<boolean> {
  if (!existsSync(join(project, ".git"))) return false;
  try {
    const { stdout } = await git(["-C", project, "rev-parse", "--show-toplevel", "--verify", "HEAD"]);
    return realpathSync(stdout.split("\n")[0] ?? "") === realpathSync(project);
  } catch (error) {
    if (isMissing(error)) throw error;
    // A clone without a commit, or a damaged one: its files are there all the same.
    return false;
  }
}

async function snapshot(project: string, folder: string): Promise<string> {
  const repository = join(folder, "project.git");
  mkdirSync(folder, { recursive: true });
  const inside = ["--git-dir", repository, "--work-tree", project];
  await git(["init", "--quiet", "--bare", "--initial-branch=main", repository]);
  await git([...inside, "add", "--all", "."], project);
  await git(
    [...inside, "commit", "--quiet", "--allow-empty", "--message", "Keelson as it is in this folder"],
    project,
  );
  return repository;
}

/** As on any machine: no configuration of the user's, no hooks, no signatures. */
async function git(args: readonly string[], cwd?: string): Promise<{ stdout: string }> {
  const { PATH = "", HOME = "" } = process.env;
  const person = { NAME: "Keelson", EMAIL: "demo@keelson.invalid" };
  try {
    return await run("git", ["-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null", ...args], {
      timeout: TIMEOUT_MS,
      ...(cwd === undefined ? {} : { cwd }),
      env: {
        PATH,
        HOME,
        LC_ALL: "C",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_AUTHOR_NAME: person.NAME,
        GIT_AUTHOR_EMAIL: person.EMAIL,
        GIT_COMMITTER_NAME: person.NAME,
        GIT_COMMITTER_EMAIL: person.EMAIL,
      },
    });
  } catch (error) {
    if (isMissing(error))
      throw new RunError("git is not installed, and code search needs it", { cause: error });
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof RunError || (error as NodeJS.ErrnoException).code === "ENOENT";
}
