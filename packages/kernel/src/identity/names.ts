/** Names that people choose: fleet, node, service, zone. Kept plain so that they need no escaping in keys, URLs, metrics or shells. */
const NAME = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/i;

/** Undefined when the name is good; otherwise what is wrong with it, as one clause. */
export function nameProblem(what: string, name: string): string | undefined {
  if (NAME.test(name)) return undefined;
  return `${what} ${JSON.stringify(name)} must be 1 to 63 letters, digits, dots, dashes or underscores, and begin and end with a letter or digit`;
}
