/**
 * The text that the code bench searches: pinned packages, downloaded once into a cache folder outside the repository, unpacked, and rid of what is not text.
 * Or a folder of the user's, as it is.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, open, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
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
  const { stdout: known } = await run("apt-get", ["indextargets", "--format", "$(REPO_URI)"]);
  const mirror = known.split("\n").find((uri) => /\/debian\/?$/.test(uri));
  if (mirror === undefined)
    throw new Error(
      "apt knows of no Debian archive: name one in /etc/apt/sources.list.d, or a folder with --corpus",
    );
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

/** A file of the corpus: where it is, in bytes, because a name need not be UTF-8, and what it is called. */
export interface CorpusFile {
  readonly file: Buffer;
  /** From the folder; bytes of it that are no UTF-8 are U+FFFD, as in what the peers say. */
  readonly path: string;
}

/** Every regular file below the folder, sorted. Links are not followed. */
export async function listFiles(folder: string): Promise<CorpusFile[]> {
  const root = Buffer.from(`${folder}/`);
  const files: CorpusFile[] = [];
  const folders = [root];
  for (let under = folders.pop(); under !== undefined; under = folders.pop()) {
    for (const entry of await readdir(under, { withFileTypes: true, encoding: "buffer" })) {
      const file = Buffer.concat([under, entry.name]);
      if (entry.isDirectory()) folders.push(Buffer.concat([file, Buffer.from("/")]));
      else if (entry.isFile()) files.push({ file, path: file.toString("utf8", root.length) });
    }
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** How many bytes a folder of the user's has, in files; says what is wrong with it when there is nothing to search. */
export async function corpusBytes(folder: string): Promise<number> {
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined) throw new Error(`--corpus ${folder}: there is no such folder`);
  if (!found.isDirectory()) throw new Error(`--corpus ${folder} is a file: name a folder`);
  let bytes = 0;
  for (const { file } of await listFiles(folder)) bytes += (await stat(file)).size;
  if (bytes === 0) throw new Error(`--corpus ${folder}: there is nothing in it to search`);
  return bytes;
}

/** Reads a file in one go, without the stream machinery: there are tens of thousands. */
export async function readWhole(path: string | Buffer): Promise<Buffer> {
  const file = await open(path);
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}
