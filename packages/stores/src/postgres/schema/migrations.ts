/**
 * How the schema comes to be, step by step. A step that was released is never edited: a change is a new step at the end. `oldest` is the lowest version whose clients can
 * still work on what the step leaves, so that a fleet can be upgraded node by node.
 */
import type { LogLimits } from "../options.ts";
import { catalogue, firstCatalogue } from "./catalogue.ts";
import { functions } from "./functions.ts";
import { operations } from "./operations.ts";
import { tables } from "./tables.ts";

interface Migration {
  readonly version: number;
  readonly oldest: number;
  readonly sql: (schema: string, limits: LogLimits) => string;
}

const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    oldest: 1,
    sql: (s, limits) => `${tables(s)}${functions(s, limits)}${operations(s)}${firstCatalogue(s)}
insert into ${s}.store (incarnation, identity, started)
  select substr(replace(gen_random_uuid()::text, '-', ''), 1, 16), ${s}.server_identity(), pg_postmaster_start_time();
`,
  },
  { version: 2, oldest: 1, sql: catalogue },
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * One statement that brings the schema up to date, or finds that somebody else has. It waits for others that do the same by a lock that ends with the transaction, and
 * makes nothing that is there already: a user that may not create schemas can use one that was made for it. `upTo` stops where an earlier release did.
 */
export function migration(name: string, limits: LogLimits, upTo = SCHEMA_VERSION): string {
  const s = `"${name}"`;
  const steps = MIGRATIONS.slice(0, upTo).map(
    ({ version, oldest, sql }) => `
  if not exists (select from ${s}.migrations where version >= ${version}) then
    execute $migration$${sql(s, limits)}$migration$;
    insert into ${s}.migrations (version, oldest) values (${version}, ${oldest});
  end if;`,
  );
  return `do $do$ begin
  perform pg_advisory_xact_lock(hashtextextended('keelson schema ${name}', 0));
  if to_regnamespace('${s}') is null then create schema ${s}; end if;
  if to_regclass('${s}.migrations') is null then
    create table ${s}.migrations (version int primary key, oldest int not null, at timestamptz not null default now());
  end if;${steps.join("")}
end $do$`;
}

/** Asks which version the schema has; the second number is the oldest client that it still serves. Fails with 3F000 or 42P01 when there is none. */
export function versionQuery(name: string): string {
  return `select max(version) as version, max(oldest) as oldest from "${name}".migrations`;
}
