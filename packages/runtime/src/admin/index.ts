/** The fleet's admin: what operators see and ask. docs/operating.md tells how to use it. */
export * from "./contract.ts";
export * from "./errors.ts";
export * from "./ask-node.ts";
export * from "./local-admin.ts";
export * from "./node-report.ts";
export * from "./api.ts";
