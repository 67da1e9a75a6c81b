/** What is wrong with a folder or a file in it, in words that tell a person what to do. */
import { FolderError } from "../errors.ts";

export function unusableFolder(path: string, cause: unknown): FolderError {
  const { code, message } = cause as NodeJS.ErrnoException;
  return new FolderError("FOLDER_UNUSABLE", `${path} cannot be used: ${advice(code) ?? message}`, { cause });
}

export function corruptFile(path: string, why: string, cause?: unknown): FolderError {
  return new FolderError(
    "FOLDER_CORRUPT",
    `${path} is damaged or not a store of ours (${why}): put a backup in its place, or name another folder`,
    { cause },
  );
}

function advice(code: string | undefined): string | undefined {
  switch (code) {
    case "EEXIST":
    case "ENOTDIR":
      return "it is a file, or is inside one; name a folder";
    case "EACCES":
    case "EPERM":
      return "no permission; give this user the right to read and write it, or name another folder";
    case "EROFS":
      return "the file system is read-only; name another folder";
    case "ENOSPC":
    case "EDQUOT":
      return "no space is left on the device; free some";
    default:
      return undefined;
  }
}
