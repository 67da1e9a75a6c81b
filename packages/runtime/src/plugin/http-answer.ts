/** An answer that is not just JSON with status 200: another status, headers, text or bytes. */
export class HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text, bytes and `JsonText` leave as they are, anything else as JSON. */
  readonly body: unknown;

  constructor(
    body: unknown,
    options: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    this.body = body;
    this.status = options.status ?? 200;
    this.headers = options.headers ?? {};
  }
}
