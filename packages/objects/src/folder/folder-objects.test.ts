import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdirSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { objectContract, type ObjectHarness } from "../contract-suite/index.ts";
import { realClock } from "../fixtures/real-clock.ts";
import { FolderObjects } from "./folder-objects.ts";
import { keyPath } from "./names.ts";

const root = mkdtempSync(join(tmpdir(), "keelson-objects-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;

/** The contract, on a folder that two clients use as two processes would. */
async function openHarness(): Promise<ObjectHarness> {
  folders += 1;
  const folder = join(root, `${folders}`);
  const open = () => FolderObjects.open({ folder, clock: realClock, random: Math.random });
  const [objects, second] = [await open(), await open()];
  const pipes: string[] = [];
  return {
    objects,
    second,
    async damage(key, at) {
      const fd = openSync(keyPath(folder, key).file, "r+");
      const byte = Buffer.alloc(1);
      readSync(fd, byte, 0, 1, at);
      byte[0] = byte[0]! ^ 1;
      writeSync(fd, byte, 0, 1, at);
      closeSync(fd);
    },
    // Opening a named pipe waits for somebody at its other end.
    async silent(key) {
      const { file } = keyPath(folder, key);
      mkdirSync(dirname(file), { recursive: true });
      execFileSync("mkfifo", [file]);
      pipes.push(file);
      return objects;
    },
    async close() {
      const wake = (): void => {
        for (const pipe of pipes) closeSync(openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK));
      };
      wake();
      // A call that was given up may come to its pipe only now.
      const waking = setInterval(wake, 50);
      await Promise.all([objects.close(), second.close()]).finally(() => clearInterval(waking));
    },
  };
}

objectContract("objects in a folder", openHarness);
