/** Objects in a folder, in S3 or in memory behind one contract. */
export * from "./contract.ts";
export { ObjectError, type ObjectErrorCode } from "./errors.ts";
export { openObjects, type OpenObjectsOptions } from "./open.ts";
export { ScopedObjects } from "./scoped-objects.ts";
export { MemoryObjects } from "./memory/memory-objects.ts";
export { FolderObjects, type FolderObjectsOptions } from "./folder/folder-objects.ts";
export { credentialsFrom, type CredentialsSource, type S3Credentials } from "./s3/credentials.ts";
export { parseObjectsUrl, type ObjectsUrl } from "./url.ts";
