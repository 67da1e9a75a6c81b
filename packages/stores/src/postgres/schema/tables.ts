/**
 * The tables of the store, and the view for operators. Everything is in one schema of its own; `s` is its quoted name. docs/design/postgres.md explains them.
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

/**
 * The serving-fleet seed's catalogue, a row per replica of the service \`code\`. The tenure is the row's owner, its session the lease, the footprint its size. What nobody stores
 * in the coordination store yet is null.
 */
export const catalogue = (s: string): string => `
create function ${s}.decode(segment text) returns text language sql immutable strict as $$
  select case when position('%' in segment) = 0 then segment else (
    select convert_from(string_agg(
      case when part[1] like '\\%__' then decode(substr(part[1], 2), 'hex') else convert_to(part[1], 'UTF8') end,
      ''::bytea order by n), 'UTF8')
    from regexp_matches(segment, '%[0-9A-Fa-f]{2}|[^%]+|%', 'g') with ordinality as found(part, n)
  ) end
$$;

create view ${s}.catalogue as
select
  ${s}.decode(split_part(known.place, '/', 3)) as repo_id,
  tenure.value::jsonb ->> 'node' as owner_id,
  lease.deadline as lease_expires,
  null::text as commit_hash,
  null::boolean as ready,
  null::timestamptz as last_indexed_at,
  (footprint.value::jsonb ->> 'bytes')::bigint as size_bytes,
  split_part(known.place, '/', 1) as fleet,
  split_part(known.place, '/', 4)::int as replica
from (
  -- Each place is <fleet>/code/<shard>/<replica>.
  select regexp_replace(key, '^/keelson/([^/]+)/(?:tenure|contender)/(code/[^/]+/[0-9]+).*$', '\\1/\\2') as place
  from ${s}.entries
  where key ~ '^/keelson/[^/]+/(?:tenure|contender)/code/[^/]+/[0-9]+(?:/|$)'
  group by 1
) as known
left join ${s}.entries as tenure
  on tenure.key = regexp_replace(known.place, '^([^/]+)/', '/keelson/\\1/tenure/') collate "C"
left join ${s}.sessions as lease on lease.id = tenure.session
left join ${s}.entries as footprint
  on footprint.key = regexp_replace(known.place, '^([^/]+)/code/([^/]+)/.*$', '/keelson/\\1/auction/code/footprint/\\2') collate "C";
comment on view ${s}.catalogue is 'Who holds which repository of the code service, until when, and how large it is.';
`;
