/** Finds what serves a path: patterns such as `/v1/jobs/{tenant}/{rest*}`, plain segments before parameters, parameters before the rest. */

export type Params = Readonly<Record<string, string>>;

export type Match<T> =
  | { readonly kind: "found"; readonly target: T; readonly params: Params }
  /** The path is there for other verbs. */
  | { readonly kind: "verb"; readonly allow: readonly string[]; readonly targets: readonly T[] }
  | { readonly kind: "none" }
  /** A segment cannot be decoded. */
  | { readonly kind: "malformed" };

interface Branch<T> {
  readonly plain: Map<string, Branch<T>>;
  parameter: Branch<T> | undefined;
  /** What takes the rest of the path. */
  rest: Map<string, Leaf<T>> | undefined;
  readonly leaves: Map<string, Leaf<T>>;
}

interface Leaf<T> {
  readonly target: T;
  readonly names: readonly string[];
}

const NO_PARAMS: Params = {};
/** Deeper than any pattern: a path of a million slashes is not walked. */
const SEGMENTS_MAX = 64;

export class PathTable<T> {
  readonly #root = branch<T>();
  /** Patterns without parameters, by `VERB path`: most requests of some services. */
  readonly #plain = new Map<string, T>();

  /** Throws when something is there already. */
  add(verb: string, pattern: string, target: T): void {
    const names: string[] = [];
    const segments = segmentsOf(pattern);
    let at = this.#root;
    let leaves: Map<string, Leaf<T>> | undefined;
    for (const segment of segments) {
      const name = /^\{(.+?)\*?\}$/.exec(segment)?.[1];
      if (name !== undefined) names.push(name);
      if (segment.endsWith("*}")) leaves = at.rest ??= new Map();
      else if (name !== undefined) at = at.parameter ??= branch();
      else at = next(at.plain, segment);
    }
    leaves ??= at.leaves;
    if (leaves.has(verb)) throw new Error(`two operations are ${verb} ${pattern}`);
    leaves.set(verb, { target, names });
    if (names.length === 0) this.#plain.set(`${verb} ${pattern}`, target);
  }

  match(verb: string, path: string): Match<T> {
    const plain = this.#plain.get(`${verb} ${path}`);
    if (plain !== undefined) return { kind: "found", target: plain, params: NO_PARAMS };
    const segments = segmentsOf(path);
    if (segments.length > SEGMENTS_MAX) return { kind: "none" };
    const values: string[] = [];
    const leaves = find(this.#root, segments, 0, values);
    if (!leaves) return { kind: "none" };
    const leaf = leaves.get(verb);
    if (!leaf)
      return {
        kind: "verb",
        allow: [...leaves.keys()],
        targets: [...leaves.values()].map(({ target }) => target),
      };
    if (leaf.names.length === 0) return { kind: "found", target: leaf.target, params: NO_PARAMS };
    const params: Record<string, string> = {};
    try {
      for (const [index, name] of leaf.names.entries()) {
        const value = values[index] ?? "";
        params[name] = value.includes("%") ? decodeURIComponent(value) : value;
      }
    } catch {
      return { kind: "malformed" };
    }
    return { kind: "found", target: leaf.target, params };
  }
}

function find<T>(
  at: Branch<T>,
  segments: readonly string[],
  index: number,
  values: string[],
): ReadonlyMap<string, Leaf<T>> | undefined {
  const segment = segments[index];
  if (segment === undefined) return at.leaves.size > 0 ? at.leaves : undefined;
  const plain = at.plain.get(segment);
  const found = plain && find(plain, segments, index + 1, values);
  if (found) return found;
  if (at.parameter && segment !== "") {
    values.push(segment);
    const below = find(at.parameter, segments, index + 1, values);
    if (below) return below;
    values.pop();
  }
  if (at.rest) values.push(segments.slice(index).join("/"));
  return at.rest;
}

function segmentsOf(path: string): string[] {
  return path === "/" ? [] : path.slice(1).split("/");
}

function branch<T>(): Branch<T> {
  return { plain: new Map(), parameter: undefined, rest: undefined, leaves: new Map() };
}

function next<T>(branches: Map<string, Branch<T>>, segment: string): Branch<T> {
  let found = branches.get(segment);
  if (!found) branches.set(segment, (found = branch()));
  return found;
}
