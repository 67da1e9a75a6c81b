/** Failures to set a store up. Each message is one line that says what to do; nothing was changed when one is thrown. */

export type FolderErrorCode =
  /** A living process has the folder. */
  | "FOLDER_HELD"
  /** Not a folder, or no permission, or no space. */
  | "FOLDER_UNUSABLE"
  /** What is in it is damaged, or is not ours. */
  | "FOLDER_CORRUPT";

export class FolderError extends Error {
  override readonly name = "FolderError";
  readonly code: FolderErrorCode;

  constructor(code: FolderErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

export class StoreUrlError extends Error {
  override readonly name = "StoreUrlError";
  readonly code = "STORE_URL_INVALID";
}
