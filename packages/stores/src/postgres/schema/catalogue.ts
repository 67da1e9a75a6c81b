/**
 * The serving-fleet seed's catalogue as a view for operators: a row for each replica of each repository of the service `code`. It only reads what is in the store for other
 * reasons: the tenure is the row's owner and its session the lease, and the service's own records (`catalogue/code/repo/…` and `catalogue/code/indexed/…`, in
 * services/code/src/repository.ts) say what there is and what of it is indexed. Nothing is written for its sake.
 */
/** As the first release had it, of before there was a service `code`: it knows tenures, leases and sizes. */
export const firstCatalogue = (s: string): string => `
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

/**
 * A holder writes its record guarded by its tenure. So one that was written after the tenure is of this very tenure, and what it says is served now; an older one is of a
 * former holder, and says only what was indexed last.
 */
export const catalogue = (s: string): string => `
create or replace view ${s}.catalogue as
with
  repository as (
    select split_part(key, '/', 3) as fleet, split_part(key, '/', 7) as id, value::jsonb as row
    from ${s}.entries
    where key like '/keelson/%/catalogue/code/repo/%' and split_part(key, '/', 4) = 'catalogue'
  ),
  place as (
    select repository.fleet, repository.id, replica
    from repository
    left join ${s}.entries as head on head.key = '/keelson/' || repository.fleet || '/catalogue/code/head'
    cross join lateral generate_series(0, coalesce((head.value::jsonb ->> 'replicas')::int, 1) - 1) as replica
    union
    -- What is held or got ready for though it is not listed: it was just removed.
    select split_part(key, '/', 3), split_part(key, '/', 6), split_part(key, '/', 7)::int
    from ${s}.entries
    where key like '/keelson/%/code/%' and split_part(key, '/', 4) in ('tenure', 'contender') and split_part(key, '/', 5) = 'code'
      -- The shard that edits the catalogue has no repository.
      and split_part(key, '/', 6) <> 'catalogue'
  )
select
  ${s}.decode(place.id) as repo_id,
  tenure.value::jsonb ->> 'node' as owner_id,
  lease.deadline as lease_expires,
  nullif(indexed.record #>> '{heads,0,commit}', '') as commit_hash,
  coalesce(indexed.at is not null and indexed.revision > tenure.revision and lease.deadline > clock_timestamp(), false) as ready,
  indexed.at as last_indexed_at,
  coalesce(indexed.bytes, (footprint.value::jsonb ->> 'bytes')::bigint, (size.value::jsonb ->> 'bytes')::bigint) as size_bytes,
  place.fleet,
  place.replica,
  repository.row ->> 'name' as name,
  repository.row ->> 'state' as state,
  repository.row ->> 'reason' as reason
from place
left join repository on repository.fleet = place.fleet and repository.id = place.id
left join ${s}.entries as tenure
  on tenure.key = '/keelson/' || place.fleet || '/tenure/code/' || place.id || '/' || place.replica
left join ${s}.sessions as lease on lease.id = tenure.session
left join (
  select key, revision, value::jsonb as record,
    to_timestamp(nullif((value::jsonb ->> 'indexedAt')::double precision, 0) / 1000) as at,
    nullif((value::jsonb ->> 'memoryBytes')::bigint, 0) as bytes
  from ${s}.entries
  where key like '/keelson/%/catalogue/code/indexed/%' and split_part(key, '/', 4) = 'catalogue'
) as indexed
  on indexed.key = '/keelson/' || place.fleet || '/catalogue/code/indexed/' || place.id || '/' || place.replica
left join ${s}.entries as footprint
  on footprint.key = '/keelson/' || place.fleet || '/auction/code/footprint/' || place.id
left join ${s}.entries as size
  on size.key = '/keelson/' || place.fleet || '/catalogue/code/size/' || place.id;
comment on view ${s}.catalogue is 'The repositories of the code service: who holds each, until when, at which commit it is indexed, and whether it is served.';
`;
