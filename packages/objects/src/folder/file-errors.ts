/** What the operating system says about a file, as the contract says it. */
import { ObjectError } from "../errors.ts";

function errnoOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}

export function isErrno(error: unknown, ...codes: readonly string[]): boolean {
  const code = errnoOf(error);
  return code !== undefined && codes.includes(code);
}

/** `applied` says that the write may have taken effect. Errors that are not the system's pass as they are. */
export function fileError(error: unknown, what: string, root: string, applied: boolean): unknown {
  const code = errnoOf(error);
  if (
    error instanceof ObjectError ||
    code === undefined ||
    (error as NodeJS.ErrnoException).syscall === undefined
  )
    return error;
  const cause = { cause: error };
  if (applied)
    return new ObjectError(
      "OBJECT_UNKNOWN",
      `${what} in ${root} did not end well (${code}): it may be lost when the machine loses power; read before acting`,
      cause,
    );
  switch (code) {
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new ObjectError(
        "OBJECT_DENIED",
        `${what} is not permitted in ${root} (${code}): check that this user may read and write it`,
        cause,
      );
    case "ENOSPC":
    case "EDQUOT":
      return new ObjectError("OBJECT_UNAVAILABLE", `${what}: no space left for ${root} (${code})`, cause);
    case "ENAMETOOLONG":
      return new ObjectError("OBJECT_REJECTED", `${what}: the path in ${root} is too long`, cause);
    default:
      return new ObjectError("OBJECT_UNAVAILABLE", `${what} failed in ${root} (${code})`, cause);
  }
}
