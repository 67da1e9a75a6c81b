/** The code service: repositories indexed in memory, searched where they are held. */
export { codePlugin } from "./plugin.ts";
