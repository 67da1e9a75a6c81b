/** The lock file, as far as checks of dependencies need it: what is installed where, and what of it something asks for and nobody has. */

export interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export interface LockFile {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

const MODULES = "node_modules/";

/** Of others, by where they are installed. */
export function foreign({ packages }: LockFile): [path: string, locked: LockedPackage][] {
  return Object.entries(packages).filter(([path, { link }]) => path.includes(MODULES) && link !== true);
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf(MODULES) + MODULES.length);
}

/** Where a package that is wanted at a place would be found, as Node looks for it; undefined when it is not there. */
export function found({ packages }: LockFile, from: string, name: string): string | undefined {
  for (let at = from; ;) {
    const path = at === "" ? `${MODULES}${name}` : `${at}/${MODULES}${name}`;
    if (path in packages) return path;
    if (at === "") return undefined;
    const up = at.lastIndexOf(`/${MODULES}`);
    at =
      up >= 0
        ? at.slice(0, up)
        : at.includes("/") && !at.startsWith(MODULES)
          ? at.slice(0, at.lastIndexOf("/"))
          : "";
  }
}

/** What something asks for and the lock file does not have: `npm ci` would refuse it, on this platform or on another. */
export function missing(lock: LockFile): string[] {
  return Object.entries(lock.packages).flatMap(([path, locked]) => {
    const peers = Object.keys(locked.peerDependencies ?? {}).filter(
      (name) => locked.peerDependenciesMeta?.[name]?.optional !== true,
    );
    const wanted = [
      ...Object.keys(locked.dependencies ?? {}),
      ...Object.keys(locked.optionalDependencies ?? {}),
      ...(path.includes(MODULES) ? peers : []),
    ];
    return wanted
      .filter((name) => found(lock, path, name) === undefined)
      .map((name) => `${name}, for ${path || "the root"}`);
  });
}
