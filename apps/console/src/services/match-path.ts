/** The parameters of an address that fits a pattern such as `/console/code/files/:repository/:path*`; undefined when it does not fit. */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split("/").filter(Boolean);
  const given = path.split("/").filter(Boolean);
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    if (part.startsWith(":") && part.endsWith("*")) {
      params[part.slice(1, -1)] = given.slice(index).map(decoded).join("/");
      return params;
    }
    const segment = given[index];
    if (segment === undefined) return undefined;
    if (part.startsWith(":")) params[part.slice(1)] = decoded(segment);
    else if (part !== segment) return undefined;
  }
  return given.length === wanted.length ? params : undefined;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    // Typed by hand: a lone per cent sign is just that.
    return segment;
  }
}
