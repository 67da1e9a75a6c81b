/** Objects in a folder, in S3 or in memory behind one contract; journals and era numbers on top of them. */
export * from "./contract.ts";
export { ObjectError, type ObjectErrorCode } from "./errors.ts";
export { openObjects, type OpenObjectsOptions } from "./open.ts";
export { parseObjectsUrl, type ObjectsUrl } from "./url.ts";
export { ScopedObjects } from "./scoped-objects.ts";
export { InterceptedObjects, type Interceptor, type ObjectCall } from "./intercepted-objects.ts";
export { MemoryObjects } from "./memory/memory-objects.ts";
export { FolderObjects, type FolderObjectsOptions } from "./folder/folder-objects.ts";
export { credentialsFrom, type CredentialsSource, type S3Credentials } from "./s3/credentials.ts";
export * from "./journal/contract.ts";
export { JournalError, type JournalErrorCode } from "./journal/errors.ts";
export {
  fenceStreams,
  openJournal,
  readJournal,
  type FenceStreamsOptions,
  type OpenJournalOptions,
  type ReadJournalOptions,
} from "./journal/open.ts";
export { ObjectEras, type ObjectErasOptions } from "./eras/object-eras.ts";
