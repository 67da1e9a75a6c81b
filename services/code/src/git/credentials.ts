/** The passwords for git servers, by host. They are handed to git through its environment, and appear in no argument, log, address or record. */
import { SecretSource, type SecretPorts } from "./secret-source.ts";

export interface CredentialRule {
  /** `github.com`, `git.example.com:8443`, or `*` for any. */
  readonly host: string;
  /** What goes with a token is up to the server; most take anything. */
  readonly username: string;
  /** `env:NAME`, `file:/path` or `command:program argument …`. */
  readonly from: string;
}

export interface Credential {
  readonly username: string;
  readonly password: string;
}

/** A credential with the one server that may see it: a server may send git on to another one, which then asks for a password too. */
export interface BoundCredential extends Credential {
  /** `https://github.com`. */
  readonly origin: string;
}

export class Credentials {
  readonly #rules: readonly { readonly rule: CredentialRule; readonly source: SecretSource }[];

  constructor(rules: readonly CredentialRule[], ports: SecretPorts) {
    const sources = new Map<string, SecretSource>();
    this.#rules = rules.map((rule) => {
      const source = sources.get(rule.from) ?? new SecretSource(rule.from, ports);
      sources.set(rule.from, source);
      return { rule, source };
    });
  }

  /** Undefined when nothing is said of the host. With `fresh`, whatever was kept has been refused. */
  async for(host: string, fresh = false): Promise<Credential | undefined> {
    const found =
      this.#rules.find(({ rule }) => rule.host === host) ?? this.#rules.find(({ rule }) => rule.host === "*");
    if (!found || host === "") return undefined;
    return { username: found.rule.username, password: await found.source.read(fresh) };
  }
}
