/**
 * The text that the code bench searches: pinned packages, downloaded once into a cache folder outside the repository, unpacked, and rid of what is not text.
 * Or a folder of the user's, as it is.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, open, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { debianPackages, npmPackages } from "./packages.ts";

const run = promisify(execFile);
const outputBytesMax = 64 * 1024 * 1024;

/** Where the corpus is; it is made when it is not there yet. */
export async function ensureCorpus(progress: (text: string) => void): Promise<string> {
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "keelson-bench");
  const folder = join(cache, "code-corpus-3");
  if (existsSync(folder)) return folder;
  const work = `${folder}.${process.pid}`;
  const archives = join(work, "archives");
  const tree = join(work, "tree");
  await mkdir(archives, { recursive: true });
  await mkdir(tree, { recursive: true });
  progress("downloading the corpus, once");
  for (const spec of npmPackages) {
    progress(`npm: ${spec}`);
    await run("npm", ["pack", spec, "--pack-destination", archives, "--loglevel=error"], {
      maxBuffer: outputBytesMax,
    });
  }
  await downloadDebian(work, archives, progress);
  for (const archive of (await readdir(archives)).sort()) {
    const name = /^(?<name>.*?)(?:\.orig\.tar\.\w+|\.tgz)$/.exec(archive)?.groups?.["name"];
    if (name === undefined) continue;
    const target = join(tree, name);
    await mkdir(target, { recursive: true });
    await run("tar", [
      "-xf",
      join(archives, archive),
      "-C",
      target,
      "--strip-components=1",
      "--no-same-owner",
    ]);
  }
  progress("keeping what is text");
  await keepText(tree);
  await rename(tree, folder);
  await rm(work, { recursive: true, force: true });
  return folder;
}

/** With lists of its own, so that the machine's package sources stay as they are. */
async function downloadDebian(
  work: string,
  archives: string,
  progress: (text: string) => void,
): Promise<void> {
  const apt = join(work, "apt");
  await mkdir(join(apt, "lists/partial"), { recursive: true });
  await mkdir(join(apt, "cache/archives/partial"), { recursive: true });
  const system = await readFile("/etc/apt/sources.list.d/debian.sources", "utf8").catch(() => "");
  const mirror =
    /^URIs:\s*(?<uri>\S+\/debian)\/?$/m.exec(system)?.groups?.["uri"] ?? "http://deb.debian.org/debian";
  await writeFile(join(apt, "sources.list"), `deb-src ${mirror} bookworm main\n`);
  const settings = [
    `Dir::Etc::sourcelist=${apt}/sources.list`,
    "Dir::Etc::sourceparts=/dev/null",
    `Dir::State::lists=${apt}/lists`,
    `Dir::Cache=${apt}/cache`,
    "Acquire::Languages=none",
  ];
  const options = settings.flatMap((setting) => ["-o", setting]);
  const terms = { cwd: archives, maxBuffer: outputBytesMax };
  await run("apt-get", [...options, "update"], terms);
  for (const { name, version } of debianPackages) {
    progress(`Debian: ${name} ${version}`);
    const get = (spec: string) => run("apt-get", [...options, "source", "--download-only", spec], terms);
    await get(`${name}=${version}`).catch(async () => {
      progress(`Debian no longer has ${name} ${version}; taking the version it has`);
      await get(name);
    });
  }
}

async function keepText(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await keepText(path);
    else if (!entry.isFile() || (await readFile(path)).includes(0)) await rm(path, { force: true });
  }
}

/** Every regular file below the folder, by its path from there, sorted. */
export async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

/** Reads a file in one go, without the stream machinery: there are tens of thousands. */
export async function readWhole(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}
