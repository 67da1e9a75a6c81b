/** The first token of a fleet in one process whose gateway asks for tokens: nobody could make one, because nobody has one. */
import { writeFile } from "node:fs/promises";
import { createToken, type TokenKeeper } from "@keelson/gateway";

/** Makes it when there is none, in a file that only its owner can read. Returns whether it did. */
export async function makeFirstToken(keeper: TokenKeeper, path: string): Promise<boolean> {
  if ((await keeper.list()).length > 0) return false;
  const { token, record } = createToken({ name: "first", scope: "admin" }, Date.now());
  // Before the token is good: one that nobody can read would lock everybody out.
  await writeFile(path, `${token}\n`, { mode: 0o600, flush: true });
  await keeper.add(record);
  return true;
}
