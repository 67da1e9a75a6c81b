/**
 * Finds repositories by the address that a git server calls them by, however it is written: with or without a scheme, a user, `.git`, in capitals. It is kept beside the list as that
 * changes, so that what a webhook costs does not grow with the catalogue.
 */

/** Several repositories may be of one address, each with other branches. So many are found; the others are looked at with the next poll. */
export const sameAddressMax = 64;
/** Of those with the same end, on other servers too, so many are looked at. */
const sameEndMax = 1_000;

export class RepositoryAddresses {
  readonly #urlOf: (id: number) => string | undefined;
  /** By the last two parts of the address. A number alone where there is one, as nearly always: a set for each of 100,000 would take megabytes. */
  readonly #byEnd = new Map<string, number | Set<number>>();

  constructor(urlOf: (id: number) => string | undefined) {
    this.#urlOf = urlOf;
  }

  add(id: number, url: string): void {
    const end = endOf(plain(url));
    const known = this.#byEnd.get(end);
    if (known instanceof Set) known.add(id);
    else this.#byEnd.set(end, known === undefined || known === id ? id : new Set([known, id]));
  }

  remove(id: number, url: string): void {
    const end = endOf(plain(url));
    const known = this.#byEnd.get(end);
    if (known === id) this.#byEnd.delete(end);
    else if (known instanceof Set && known.delete(id) && known.size === 0) this.#byEnd.delete(end);
  }

  /** Ids, `sameAddressMax` at most. `path` is `project/slug`, where a server does not tell its own address. */
  find({ urls = [], path }: { readonly urls?: readonly string[]; readonly path?: string }): number[] {
    const found = new Set<number>();
    for (const url of urls) {
      const address = plain(url);
      for (const id of this.#ending(endOf(address)))
        if (plain(this.#urlOf(id) ?? "") === address) found.add(id);
    }
    if (path !== undefined) for (const id of this.#ending(path.toLowerCase())) found.add(id);
    return [...found].slice(0, sameAddressMax);
  }

  #ending(end: string): number[] {
    const known = this.#byEnd.get(end);
    if (known === undefined) return [];
    return known instanceof Set ? [...known].slice(0, sameEndMax) : [known];
  }
}

/** The same for addresses that differ only in how they are written. */
function plain(url: string): string {
  const address = withoutSlashes(
    url
      .replace(/^[a-z+]+:\/\//i, "")
      .replace(/^[^@/]*@/, "")
      .replace(/:(?!\d)/, "/")
      .toLowerCase(),
  );
  return address.endsWith(".git") ? withoutSlashes(address.slice(0, -".git".length)) : address;
}

/** Without those at its end. An expression for it would go through many of them many times. */
function withoutSlashes(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === "/") end -= 1;
  return text.slice(0, end);
}

function endOf(address: string): string {
  return address.split("/").slice(-2).join("/");
}
