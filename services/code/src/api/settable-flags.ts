/** What `keelson code add` and `set` can say of a repository: the flags, and what they mean to the API. Queries ask for it with `archived:`, `fork:`, `public:` and `meta.<field>:`. */

/** The command line says something that cannot be done. The CLI knows it by its name. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const settableFlags = [
  { flags: "--branch <branch...>", about: "branches, HEAD, or patterns with *" },
  { flags: "--archived <yes|no>", about: "it is archived" },
  { flags: "--fork <yes|no>", about: "it is a fork" },
  { flags: "--public <yes|no>", about: "everybody may see it" },
  { flags: "--rank <n>", about: "0 to 65535: of equal matches those of the higher rank come first" },
  { flags: "--max-bids <n|none>", about: "answers at which its auctions close; none: as for all others" },
  {
    flags: "--meta <field=value...>",
    about: "metadata for meta.<field>: in queries; replaces all that there was",
  },
] as const;

/** Throws UsageError for what cannot be meant. */
export function settables(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { branch, rank, maxBids, meta } = options as {
    branch?: string[];
    rank?: string;
    maxBids?: string;
    meta?: string[];
  };
  return {
    ...(branch ? { branches: branch } : {}),
    ...yesOrNo(options, "archived"),
    ...yesOrNo(options, "fork"),
    ...yesOrNo(options, "public"),
    ...(rank === undefined ? {} : { rank: wholeNumber("rank", rank) }),
    ...(maxBids === undefined
      ? {}
      : { maxBids: maxBids === "none" ? null : wholeNumber("max-bids", maxBids, 1) }),
    ...(meta ? { metadata: Object.fromEntries(meta.map(fieldAndValue)) } : {}),
  };
}

/** What was said of it, under the name that the API has for it. */
export function yesOrNo(
  options: Readonly<Record<string, unknown>>,
  flag: string,
  name: string = flag,
): Record<string, boolean> {
  const said = options[flag];
  if (said === undefined) return {};
  if (said !== "yes" && said !== "no")
    throw new UsageError(`--${flag} is yes or no, not ${JSON.stringify(said)}`);
  return { [name]: said === "yes" };
}

/** Throws UsageError. */
export function wholeNumber(flag: string, text: string, least = 0): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < least)
    throw new UsageError(`--${flag} is a whole number${least > 0 ? ` from ${least} on` : ""}, not ${text}`);
  return Number(text);
}

function fieldAndValue(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`--meta is field=value, not ${text}`);
  return [text.slice(0, at), text.slice(at + 1)];
}
