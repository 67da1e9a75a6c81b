/** Objects in a folder, in S3 or in memory behind one contract. */
export * from "./contract.ts";
export { ObjectError, type ObjectErrorCode } from "./errors.ts";
export { MemoryObjects } from "./memory/memory-objects.ts";
