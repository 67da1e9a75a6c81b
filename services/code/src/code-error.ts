/** Failures of the code service at its boundary, each with a stable code; docs/reference/errors.md lists them. */
export const CODE_ERRORS = {
  BAD_QUERY: { status: 400, about: "the query cannot be understood; the message points at the place" },
  BAD_REQUEST: { status: 400, about: "a field is missing or wrong" },
  BAD_URL: { status: 400, about: "not an address of a repository" },
  NAME_TAKEN: { status: 409, about: "another repository has this name" },
  TOO_MANY_REPOSITORIES: { status: 409, about: "the catalogue is full" },
  REPOSITORY_UNKNOWN: { status: 404, about: "the catalogue has no such repository" },
  FILE_UNKNOWN: { status: 404, about: "the repository has no such file on that branch" },
  REPOSITORY_UNAVAILABLE: { status: 503, about: "the repository could not be fetched; the message says why" },
  WEBHOOK_REFUSED: { status: 401, about: "a webhook without a token is not signed, or not with the secret" },
  WEBHOOK_UNCHECKED: { status: 503, about: "the secret that webhooks are checked with cannot be read" },
  CATALOGUE_BUSY: { status: 503, about: "others changed the catalogue at the same time; try again" },
  CORRUPT_INDEX: { status: 503, about: "memory no longer held what was built; it is being built again" },
  TRANSFER_BUSY: { status: 503, about: "as many indexes are being sent as can be at once; try again" },
  TRANSFER_ENDED: { status: 503, about: "an index is no longer being sent; begin again" },
} as const;

type CodeErrorCode = keyof typeof CODE_ERRORS;

export class CodeError extends Error {
  override readonly name = "CodeError";
  readonly code: CodeErrorCode;

  constructor(code: CodeErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
