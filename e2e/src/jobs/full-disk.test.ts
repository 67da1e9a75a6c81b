/**
 * A disk that is really full: a small file system of its own, filled to the last block under a running node. The node gives its shards up, stays a member, and takes
 * them again by itself when there is room; nothing that was acknowledged is lost. Only where file systems may be mounted.
 */
import { execFileSync } from "node:child_process";
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FaultScene } from "./fault-scene.ts";
import { pause } from "./load.ts";

const SIZE_MIB = 192;
const PAYLOAD = "x".repeat(100_000);

let folder: string;
let scene: FaultScene | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keelson-e2e-disk-"));
});
afterEach(async () => {
  await scene?.stop();
  scene = undefined;
  unmount(folder);
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

function mount(at: string): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE_MIB}m`, "none", at], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function unmount(at: string): void {
  try {
    execFileSync("umount", ["-l", at], { stdio: "ignore" });
  } catch {
    // It was not mounted.
  }
}

/** Only root may, and not in every container. */
const MAY_MOUNT = ((): boolean => {
  const trial = mkdtempSync(join(tmpdir(), "keelson-e2e-mount-"));
  const may = mount(trial);
  if (may) unmount(trial);
  rmSync(trial, { recursive: true, force: true });
  return may;
})();

/** Writes until not a byte more is taken. */
function fill(path: string): void {
  const file = openSync(path, "w");
  for (const bytes of [1 << 20, 4096, 1])
    for (const chunk = Buffer.alloc(bytes); ;)
      try {
        writeSync(file, chunk);
      } catch {
        break;
      }
  fsyncSync(file);
  closeSync(file);
}

async function until(what: string, isSo: () => boolean, all: () => string): Promise<void> {
  for (const end = performance.now() + 90_000; !isSo(); await pause(100))
    if (performance.now() > end) throw new Error(`${what} did not happen:\n${all()}`);
}

test.skipIf(!MAY_MOUNT)(
  "a node on a full disk gives its shards up and takes them again when there is room",
  async () => {
    if (!mount(folder)) throw new Error("what could be mounted before cannot be now");
    scene = await FaultScene.start("embedded", ["a"], { objects: `file:${join(folder, "objects")}` });
    const { fleet } = scene;
    const said = (pattern: RegExp): boolean => pattern.test(fleet.all);
    const client = await scene.connect();
    const acknowledged: string[] = [];
    const enqueue = async (id: string): Promise<void> => {
      await client.enqueue({ group: "work", tenant: `t${id}`, id, payload: PAYLOAD });
      acknowledged.push(id);
    };
    for (let each = 0; each < 20; each += 1) await enqueue(`before-${each}`);
    const ballast = join(folder, "ballast");
    fill(ballast);
    // Repeated by the client until they are acknowledged.
    const during = Array.from({ length: 40 }, (_, each) =>
      enqueue(`during-${each}`).catch((error: unknown) => error),
    );
    await until(
      "giving up",
      () => said(/gives its shards of the job queue up/),
      () => fleet.all,
    );
    await pause(2_000);
    expect(fleet.running.get("a")?.running).toBe(true);
    rmSync(ballast);
    await until(
      "coming back",
      () => said(/can be written again/),
      () => fleet.all,
    );
    expect((await Promise.all(during)).filter((outcome) => outcome !== undefined)).toEqual([]);
    client.worker("work", ({ id }) => id, { concurrency: 20 });
    const results = acknowledged.map((id) => client.job(id, `t${id}`).result());
    expect(await Promise.all(results)).toEqual(acknowledged);
    expect(acknowledged).toHaveLength(60);
  },
  240_000,
);
