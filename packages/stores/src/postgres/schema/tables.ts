/**
 * The tables of the store. Everything is in one schema of its own; `s` is its quoted name. docs/design/postgres.md explains them.
 * Keys compare by their bytes (collation C), as they do in every other store.
 */
export const tables = (s: string): string => `
create table ${s}.store (
  one boolean primary key default true check (one),
  incarnation text not null,
  -- Which server this is, as far as it may be told: its system identifier and timeline. Empty when it may not.
  identity text not null,
  -- When the process that last wrote here was started.
  started timestamptz not null,
  revision bigint not null default 0,
  -- The log has one or two slabs; the second begins after the mark.
  log_mark bigint not null default 0,
  log_bytes bigint not null default 0
) with (fillfactor = 10);
comment on table ${s}.store is 'One row: which store this is, and its revision. Its lock puts all changes in one order.';

create table ${s}.entries (
  key text collate "C" primary key,
  value text not null,
  revision bigint not null,
  session text collate "C"
) with (fillfactor = 70);
create index entries_session on ${s}.entries (session) where session is not null;
comment on table ${s}.entries is 'The keys, each with the revision of its last write and the session whose end deletes it.';

-- Deadlines have no index: there are few sessions, and a renewal that touches no index leaves nothing behind for vacuum.
create table ${s}.sessions (
  id text collate "C" primary key,
  ttl_ms bigint not null,
  deadline timestamptz not null
) with (fillfactor = 30);
comment on table ${s}.sessions is 'The leases of nodes. One that is not renewed before its deadline, by this server''s clock, is ended by whoever looks next.';

create table ${s}.changes (
  revision bigint primary key,
  at timestamptz not null default clock_timestamp(),
  changes jsonb not null
);
comment on table ${s}.changes is 'What each revision changed, for watches. Old ones are dropped.';
`;
