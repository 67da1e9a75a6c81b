/** Why a repository cannot be had, with a stable code and a sentence that says what to do. Never holds a credential. */
type GitErrorCode =
  | "BAD_URL"
  | "NOT_A_REPOSITORY"
  | "ACCESS_DENIED"
  | "UNREACHABLE"
  | "NO_BRANCH"
  | "REPOSITORY_TOO_LARGE"
  | "BAD_CREDENTIALS_SOURCE"
  | "GIT_FAILED"
  | "CANCELLED";

export class GitError extends Error {
  override readonly name = "GitError";
  readonly code: GitErrorCode;

  constructor(code: GitErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** What git adds to whatever went wrong with a server. It says nothing, and would stand in the place of what does. */
const ADVICE = /^(?:Please make sure you have the correct access rights|and the repository exists\.)$/;

/** What a server says is passed on by git, and would be read by terminals. */
// oxlint-disable-next-line no-control-regex -- they are what is taken out.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** What git wrote to its error output, as one of ours. The patterns are git's own English; it is run with LC_ALL=C. */
export function classify(what: string, output: string): GitError {
  const lines = output.split("\n").map((line) => line.trim().replaceAll(CONTROL, "?"));
  const text = lines
    .filter((line) => line !== "" && !ADVICE.test(line))
    .slice(-3)
    .join("; ")
    .slice(0, 500);
  const says = (pattern: RegExp): boolean => pattern.test(output);
  if (
    says(
      /could not read (Username|Password)|Authentication failed|HTTP 40[13]|error: 40[13]|Permission denied|Host key verification failed/i,
    )
  )
    return new GitError(
      "ACCESS_DENIED",
      `${what}: access was denied (${text}): check the credentials for this host`,
    );
  if (
    says(
      /Could not resolve host|Connection refused|timed out|Failed to connect|unable to access|Connection reset|early EOF/i,
    )
  )
    return says(/error: 404|not found/i)
      ? new GitError("NOT_A_REPOSITORY", `${what}: there is no repository (${text}): check the address`)
      : new GitError("UNREACHABLE", `${what}: the server cannot be reached (${text}): it is tried again`);
  if (
    says(
      /not (?:appear to be )?a git repository|is this a git repository|does not exist|repository '.*' not found|not found|no such (?:file|path)/i,
    )
  )
    return new GitError("NOT_A_REPOSITORY", `${what}: there is no repository (${text}): check the address`);
  if (says(/couldn't find remote ref/i))
    return new GitError("NO_BRANCH", `${what}: a branch is not there (${text}): check the branches`);
  return new GitError(
    "GIT_FAILED",
    `${what}: git failed (${text}): it is tried again; see what git clone says of it`,
  );
}
