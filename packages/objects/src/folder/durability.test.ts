import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleProgram } from "../fixtures/bundle.ts";
import { straceProgram, type SystemCall } from "../fixtures/strace.ts";

const root = mkdtempSync(join(tmpdir(), "keelson-durable-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const parent = join(root, "parent");
const folder = join(parent, "objects");
let calls: SystemCall[] = [];

beforeAll(async () => {
  mkdirSync(parent);
  const program = await bundleProgram("folder-program.ts", root);
  calls = await straceProgram(program, [folder], join(root, "trace"));
}, 60_000);

/** The calls between two acknowledgements: all that one write did. */
function during(from: string, to: string): SystemCall[] {
  const at = (what: string) => calls.find(({ args }) => args.includes(`"ack ${what}\\n"`))!.beganAt;
  return calls.filter(({ beganAt }) => beganAt > at(from) && beganAt < at(to));
}

const only = (within: SystemCall[], name: RegExp, args: string) =>
  within.filter((call) => name.test(call.name) && call.args.includes(args) && !call.failed);

/** The last of these calls that had ended when `next` began. */
function before(next: SystemCall, within: SystemCall[], name: RegExp, args: string): SystemCall | undefined {
  return only(within, name, args).findLast(({ endedAt }) => endedAt < next.beganAt);
}

function after(
  previous: SystemCall,
  within: SystemCall[],
  name: RegExp,
  args: string,
): SystemCall | undefined {
  return only(within, name, args).find(({ beganAt }) => beganAt > previous.endedAt);
}

const NAMING = /^(?:link|linkat|rename|renameat|renameat2)$/;

describe("in the order of the system's calls", () => {
  test.each([
    ["open", "put", "new/deep/put.obj", "new/deep"],
    ["put", "again", "new/deep/again.obj", "new/deep"],
    ["again", "absent", "new/absent.obj", "new"],
    ["exists", "stream", "new/stream.obj", "new"],
  ])(
    "after %s, the bytes of %s are synced before they are named, and the name before it is acknowledged",
    (from, to, file, into) => {
      const within = during(from, to);
      const [naming] = only(within, NAMING, `${folder}/${file}"`);
      const temp = /"([^"]+)"/.exec(naming!.args)![1]!;
      const written = only(within, /write/, temp);
      const synced = before(naming!, within, /^fdatasync$/, `<${temp}>`);
      expect(written.length).toBeGreaterThan(0);
      expect(written.every(({ endedAt }) => endedAt < synced!.beganAt)).toBe(true);
      expect(after(naming!, within, /^fsync$/, `<${folder}/${into}>`)).toBeDefined();
    },
  );

  test("folders that were made for a key are synced up to the root, once", () => {
    const within = during("open", "put");
    const [naming] = only(within, NAMING, "put.obj");
    for (const each of ["new/deep", "new", ""]) {
      const synced = after(naming!, within, /^fsync$/, `<${join(folder, each)}>`);
      expect([each, synced]).toEqual([each, expect.anything()]);
    }
    expect(only(during("put", "again"), /^fsync$/, "").map(({ args }) => args)).toEqual([
      expect.stringContaining(`<${folder}/new/deep>`),
    ]);
  });

  test("a new place is synced into its parent", () => {
    const made = calls.find(({ name, args }) => name === "mkdir" && args.includes(`"${folder}"`));
    expect(after(made!, calls, /^fsync$/, `<${parent}>`)).toBeDefined();
  });

  test("what was found to exist is synced before it is reported", () => {
    const within = during("absent", "exists");
    const refused = within.find(({ name, failed }) => NAMING.test(name) && failed);
    expect(after(refused!, within, /^fsync$/, `<${folder}/new>`)).toBeDefined();
  });

  test("a delete is synced before it is acknowledged", () => {
    const within = during("stream", "delete");
    const [removed] = only(within, /^unlink$/, "absent.obj");
    expect(after(removed!, within, /^fsync$/, `<${folder}/new>`)).toBeDefined();
  });
});
