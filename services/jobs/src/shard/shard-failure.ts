/** A request that the shard does not carry out, with a code that reaches the caller. docs/reference/errors.md lists them. */
export class ShardFailure extends Error {
  override readonly name = "ShardFailure";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
