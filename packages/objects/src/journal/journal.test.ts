import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { journalContract } from "../contract-suite/index.ts";
import { realClock } from "../fixtures/real-clock.ts";
import { FolderObjects } from "../folder/folder-objects.ts";
import { MemoryObjects } from "../memory/memory-objects.ts";

const root = mkdtempSync(join(tmpdir(), "keelson-journal-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;

journalContract("a journal in files", () => {
  folders += 1;
  return FolderObjects.open({ folder: join(root, `${folders}`), clock: realClock, random: Math.random });
});

journalContract("a journal in objects (in memory)", async () => new MemoryObjects());
