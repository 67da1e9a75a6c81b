/** What tests and documents are held against: every command with its flags, every setting, every service. */
export { keelson } from "./program.ts";
export { SETTINGS, variableOf } from "./config/settings.ts";
export type { Setting } from "./config/setting.ts";
export { SERVICES } from "./services.ts";
export { loadConfig } from "./config/load.ts";
