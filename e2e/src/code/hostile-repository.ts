/** A repository that no decent person would make: file names that git lets through and programs stumble over, and a link out of its tree. Written as raw objects, because git's own commands refuse to. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";

/** Each holds `hostile_needle` once. */
export const HOSTILE_NAMES: readonly (string | Buffer)[] = [
  "-rf",
  "..",
  "<img src=x onerror=alert(1)>.js",
  "a\nb\r.txt",
  'quote".txt',
  "$(reboot).sh",
  "\u202Egnp.exe",
  "x".repeat(255),
  Buffer.from([0xff, 0xfe, 0x2e, 0x74, 0x78, 0x74]),
];

/** The name of a link to a file outside the tree. */
export const LINK = "link-to-passwd";

export function makeHostileRepository(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const git = (args: readonly string[], input?: Buffer): string =>
    execFileSync("git", ["--git-dir", folder, ...args], { input, stdio: ["pipe", "pipe", "pipe"] })
      .toString()
      .trim();
  git(["init", "--quiet", "--bare", "--initial-branch=main", folder]);
  const blob = (content: string): string => git(["hash-object", "-w", "--stdin"], Buffer.from(content));
  const entries = HOSTILE_NAMES.map((name, i) => ({
    mode: "100644",
    name: Buffer.from(name),
    oid: blob(`hostile_needle ${i}\n`),
  }));
  entries.push({ mode: "120000", name: Buffer.from(LINK), oid: blob("/etc/passwd") });
  entries.sort((a, b) => Buffer.compare(a.name, b.name));
  const raw = Buffer.concat(
    entries.flatMap(({ mode, name, oid }) => [
      Buffer.from(`${mode} `),
      name,
      Buffer.from([0]),
      Buffer.from(oid, "hex"),
    ]),
  );
  const tree = git(["hash-object", "-t", "tree", "-w", "--stdin", "--literally"], raw);
  const commit = git(["-c", "user.name=t", "-c", "user.email=t@t", "commit-tree", "-m", "hostile", tree]);
  git(["update-ref", "refs/heads/main", commit]);
  return folder;
}
