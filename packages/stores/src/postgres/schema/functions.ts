/**
 * What the store's operations are made of, as functions in Postgres. Whatever takes a revision holds the lock of the one row in `store` until it is committed; so
 * revisions have no gaps, and nobody sees one before the one below it.
 */
import type { LogLimits } from "../options.ts";

export const functions = (s: string, { slabRevisions, slabBytes }: LogLimits): string => `
-- What an operation works with: the row of the store, and when the first session ends, or a time before that.
create type ${s}.state as (incarnation text, revision bigint, log_mark bigint, log_bytes bigint, first timestamptz);

-- Which server this is: a restored backup and a promoted standby have another timeline, a dump that was loaded elsewhere another system.
create function ${s}.server_identity() returns text language plpgsql as $$
begin
  return (select system_identifier from pg_control_system())::text
    || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
exception when others then
  return '';
end $$;

-- Another server process than before: every session gets a full TTL. If it may be another server, writes may be missing: another incarnation begins.
create function ${s}.awake() returns void language plpgsql as $$
declare
  _store ${s}.store;
  _identity text;
begin
  select * into strict _store from ${s}.store for update;
  if _store.started = pg_postmaster_start_time() then return; end if;
  _identity := ${s}.server_identity();
  if _identity = '' or _identity <> _store.identity then
    _store.incarnation := substr(replace(gen_random_uuid()::text, '-', ''), 1, 16);
    delete from ${s}.changes;
  end if;
  update ${s}.sessions set deadline = clock_timestamp() + ttl_ms * interval '1 ms';
  update ${s}.store set started = pg_postmaster_start_time(), identity = _identity, incarnation = _store.incarnation;
end $$;

create function ${s}.locked() returns ${s}.state language plpgsql as $$
declare
  _now ${s}.state;
begin
  select incarnation, revision, log_mark, log_bytes into strict _now from ${s}.store for update;
  return _now;
end $$;

-- Takes the next revision and tells of it. Of the log, all but the last slab and the present one are dropped.
create function ${s}.record(_now ${s}.state, _changes jsonb) returns ${s}.state language plpgsql as $$
begin
  _now.revision := _now.revision + 1;
  _now.log_bytes := _now.log_bytes + pg_column_size(_changes);
  insert into ${s}.changes (revision, changes) values (_now.revision, _changes);
  if _now.revision - _now.log_mark >= ${slabRevisions} or _now.log_bytes >= ${slabBytes} then
    delete from ${s}.changes where revision <= _now.log_mark;
    _now.log_mark := _now.revision;
    _now.log_bytes := 0;
  end if;
  return _now;
end $$;

create function ${s}.keep(_now ${s}.state) returns void language plpgsql as $$
begin
  update ${s}.store set revision = _now.revision, log_mark = _now.log_mark, log_bytes = _now.log_bytes;
  perform pg_notify('${s.replaceAll('"', "")}', _now.revision::text);
end $$;

-- The keys of each of these sessions go in one revision. Requires the lock.
create function ${s}.end_keys(_now ${s}.state, _sessions text[]) returns ${s}.state language plpgsql as $$
declare
  _before bigint := _now.revision;
  _session text;
  _changes jsonb;
begin
  foreach _session in array _sessions loop
    with gone as (delete from ${s}.entries where session = _session collate "C" returning key)
      select jsonb_agg(jsonb_build_object('delete', key, 'expired', true)) into _changes from gone;
    if _changes is not null then _now := ${s}.record(_now, _changes); end if;
  end loop;
  if _now.revision > _before then perform ${s}.keep(_now); end if;
  return _now;
end $$;

-- Ends what is overdue. Requires the lock.
create function ${s}.end_overdue(_now ${s}.state) returns ${s}.state language plpgsql as $$
declare
  _ended text[];
begin
  with ended as (delete from ${s}.sessions where deadline <= clock_timestamp() returning id, deadline)
    select array_agg(id order by deadline) into _ended from ended;
  if _ended is null then return _now; end if;
  return ${s}.end_keys(_now, _ended);
end $$;

-- The state as it is now: the server is known, and nothing is overdue. With or without the lock.
create function ${s}.settled(_lock boolean) returns ${s}.state language plpgsql as $$
declare
  _now ${s}.state;
  _started timestamptz;
  _last timestamptz;
  _first timestamptz;
begin
  -- A server that acknowledges before it has written to disk would lose what others have seen.
  if current_setting('synchronous_commit') = 'off' then perform set_config('synchronous_commit', 'on', true); end if;
  select started into strict _started from ${s}.store;
  if _started <> pg_postmaster_start_time() then perform ${s}.awake(); end if;
  if _lock then _now := ${s}.locked();
  else select incarnation, revision, log_mark, log_bytes into strict _now from ${s}.store;
  end if;
  select min(deadline), max(deadline - ttl_ms * interval '1 ms') into _first, _last from ${s}.sessions;
  -- The clock was set back: no session may outlive its TTL for that.
  if _last > clock_timestamp() + interval '1 s' then
    update ${s}.sessions set deadline = least(deadline, clock_timestamp() + ttl_ms * interval '1 ms');
  end if;
  if _first <= clock_timestamp() then
    if not _lock then _now := ${s}.locked(); end if;
    _now := ${s}.end_overdue(_now);
    select min(deadline) into _first from ${s}.sessions;
  end if;
  _now.first := _first;
  return _now;
end $$;

create function ${s}.reply(_incarnation text, _revision bigint, _first timestamptz) returns jsonb language sql as $$
  select jsonb_build_object('r', _revision, 'i', _incarnation,
    'n', greatest(0, extract(epoch from _first - clock_timestamp()) * 1000)::double precision)
$$;
`;
