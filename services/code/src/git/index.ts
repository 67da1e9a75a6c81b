export { CloneCache } from "./clone-cache.ts";
export type { Clone } from "./clone.ts";
export { Credentials } from "./credentials.ts";
export { listFiles, readDocuments, type DocumentLimits, type FileList } from "./documents.ts";
export { GitError } from "./git-error.ts";
export { noBranch, type Head } from "./heads.ts";
export { parseRemote } from "./remote.ts";
export { SecretSource } from "./secret-source.ts";
