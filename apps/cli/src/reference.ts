/** What tests and documents are held against: every command with its flags, and every setting. */
export { keelson } from "./program.ts";
export { SETTINGS, variableOf } from "./config/settings.ts";
export type { Setting } from "./config/setting.ts";
