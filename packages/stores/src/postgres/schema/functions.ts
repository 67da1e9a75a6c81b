/**
 * The store's operations as functions in Postgres, so that each is one statement in one transaction of its own: no lock outlives a client that is stopped or cut off.
 * Whatever takes a revision holds the lock of the one row in \`store\` until it is committed; so revisions have no gaps, and nobody sees one before the one below it.
 *
 * They take and give JSON. Replies have \`r\` (revision), \`i\` (incarnation) and \`n\` (milliseconds until a session ends, null when there is none).
 */
import type { LogLimits } from "../options.ts";

/** What the others are made of. */
export const parts = (s: string, { slabRevisions, slabBytes }: LogLimits): string => `
-- Which server this is: a restored backup and a promoted standby have another timeline, a dump that was loaded elsewhere another system.
create function ${s}.server_identity() returns text language plpgsql as $$
begin
  return (select system_identifier from pg_control_system())::text
    || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
exception when others then
  return '';
end $$;

-- Another server process than before: every session gets a full TTL. If it may be another server, writes may be missing: another incarnation begins.
create function ${s}.awake() returns ${s}.store language plpgsql as $$
declare
  _store ${s}.store;
  _identity text;
begin
  select * into strict _store from ${s}.store for update;
  if _store.started = pg_postmaster_start_time() then return _store; end if;
  _identity := ${s}.server_identity();
  if _identity = '' or _identity <> _store.identity then
    _store.incarnation := substr(replace(gen_random_uuid()::text, '-', ''), 1, 16);
    delete from ${s}.changes;
  end if;
  update ${s}.sessions set deadline = clock_timestamp() + ttl_ms * interval '1 ms';
  update ${s}.store set started = pg_postmaster_start_time(), identity = _identity, incarnation = _store.incarnation
    returning * into _store;
  return _store;
end $$;

-- Takes the next revision and tells of it. Of the log, all but the last slab and the present one are dropped.
create function ${s}.record(_store ${s}.store, _changes jsonb) returns ${s}.store language plpgsql as $$
begin
  _store.revision := _store.revision + 1;
  _store.log_bytes := _store.log_bytes + pg_column_size(_changes);
  insert into ${s}.changes (revision, changes) values (_store.revision, _changes);
  if _store.revision - _store.log_mark >= ${slabRevisions} or _store.log_bytes >= ${slabBytes} then
    delete from ${s}.changes where revision <= _store.log_mark;
    _store.log_mark := _store.revision;
    _store.log_bytes := 0;
  end if;
  return _store;
end $$;

create function ${s}.keep(_store ${s}.store) returns void language plpgsql as $$
begin
  update ${s}.store set revision = _store.revision, log_mark = _store.log_mark, log_bytes = _store.log_bytes;
  perform pg_notify('${s.replaceAll('"', "")}', _store.revision::text);
end $$;

-- The keys of each of these sessions go in one revision.
create function ${s}.end_keys(_store ${s}.store, _sessions text[]) returns ${s}.store language plpgsql as $$
declare
  _session text;
  _changes jsonb;
begin
  foreach _session in array _sessions loop
    with gone as (delete from ${s}.entries where session = _session collate "C" returning key)
      select jsonb_agg(jsonb_build_object('delete', key, 'expired', true)) into _changes from gone;
    if _changes is not null then _store := ${s}.record(_store, _changes); end if;
  end loop;
  return _store;
end $$;

-- Ends what is overdue. Requires the lock.
create function ${s}.end_overdue(_store ${s}.store) returns ${s}.store language plpgsql as $$
declare
  _ended text[];
begin
  with ended as (delete from ${s}.sessions where deadline <= clock_timestamp() returning id, deadline)
    select array_agg(id order by deadline) into _ended from ended;
  if _ended is null then return _store; end if;
  return ${s}.end_keys(_store, _ended);
end $$;

-- The state as it is now: the server is known, and nothing is overdue. With or without the lock.
create function ${s}.settled(_locked boolean) returns ${s}.store language plpgsql as $$
declare
  _store ${s}.store;
  _before bigint;
  _last ${s}.sessions;
begin
  -- A server that acknowledges before it has written to disk would lose what others have seen.
  if current_setting('synchronous_commit') = 'off' then perform set_config('synchronous_commit', 'on', true); end if;
  if _locked then select * into strict _store from ${s}.store for update;
  else select * into strict _store from ${s}.store;
  end if;
  if _store.started <> pg_postmaster_start_time() then _store := ${s}.awake(); end if;
  -- The clock was set back: no session may outlive its TTL for that.
  select * into _last from ${s}.sessions order by deadline desc limit 1;
  if _last.deadline > clock_timestamp() + (_last.ttl_ms + 1000) * interval '1 ms' then
    update ${s}.sessions set deadline = least(deadline, clock_timestamp() + ttl_ms * interval '1 ms');
  end if;
  if exists (select from ${s}.sessions where deadline <= clock_timestamp()) then
    if not _locked then select * into strict _store from ${s}.store for update; end if;
    _before := _store.revision;
    _store := ${s}.end_overdue(_store);
    if _store.revision > _before then perform ${s}.keep(_store); end if;
  end if;
  return _store;
end $$;

create function ${s}.remaining_ms() returns double precision language sql as $$
  select greatest(0, extract(epoch from min(deadline) - clock_timestamp()) * 1000)::double precision from ${s}.sessions
$$;

create function ${s}.reply(_store ${s}.store) returns jsonb language sql as $$
  select jsonb_build_object('r', _store.revision, 'i', _store.incarnation, 'n', ${s}.remaining_ms())
$$;
`;

export const operations = (s: string): string => `
-- {incarnation, guards: [{k, r}], writes: [{k, v?, s?}]}, several of them, each for itself. A write without a value deletes.
create function ${s}.commit(_commits jsonb) returns jsonb language plpgsql as $$
declare
  _store ${s}.store;
  _before bigint;
  _commit jsonb;
  _failed jsonb;
  _gone jsonb;
  _changes jsonb;
  _said jsonb[] := '{}';
begin
  _store := ${s}.settled(true);
  _before := _store.revision;
  for _commit in select * from jsonb_array_elements(_commits) loop
    if _commit ->> 'incarnation' <> _store.incarnation then
      _said := _said || jsonb_build_object('kind', 'incarnation', 'r', _store.revision);
      continue;
    end if;
    select jsonb_agg(distinct g.k) into _failed
      from jsonb_to_recordset(_commit -> 'guards') as g(k text collate "C", r bigint)
      left join ${s}.entries as e on e.key = g.k
      where coalesce(e.revision, 0) <> g.r;
    select jsonb_agg(distinct w.s) into _gone
      from jsonb_to_recordset(_commit -> 'writes') as w(s text collate "C")
      where w.s is not null and not exists (select from ${s}.sessions where id = w.s);
    if _failed is not null or _gone is not null then
      _said := _said || jsonb_build_object('kind', 'conflict', 'r', _store.revision, 'failed', _failed, 'gone', _gone);
      continue;
    end if;
    with
      w as materialized (
        select * from jsonb_to_recordset(_commit -> 'writes') as w(k text collate "C", v text, s text collate "C")
      ),
      written as (
        insert into ${s}.entries (key, value, revision, session)
        select k, v, _store.revision + 1, s from w where v is not null
        on conflict (key) do update set value = excluded.value, revision = excluded.revision, session = excluded.session
      ),
      deleted as (delete from ${s}.entries using w where w.v is null and key = w.k returning key)
    select jsonb_agg(change) into _changes from (
      select jsonb_build_object('put', k, 'value', v, 'session', s) as change from w where v is not null
      union all
      select jsonb_build_object('delete', key) from deleted
    ) as told;
    if _changes is not null then _store := ${s}.record(_store, _changes); end if;
    _said := _said || jsonb_build_object('kind', 'committed', 'r', _store.revision);
  end loop;
  if _store.revision > _before then perform ${s}.keep(_store); end if;
  return ${s}.reply(_store) || jsonb_build_object('said', to_jsonb(_said));
end $$;

-- {id, ttl}
create function ${s}.open_session(_asked jsonb) returns jsonb language plpgsql as $$
declare
  _store ${s}.store;
begin
  _store := ${s}.settled(false);
  insert into ${s}.sessions (id, ttl_ms, deadline)
    select id, ttl, clock_timestamp() + ttl * interval '1 ms'
    from jsonb_to_record(_asked) as asked(id text, ttl bigint);
  return ${s}.reply(_store);
end $$;

-- [id]: one statement for all sessions of a node. Once nothing is overdue, whatever is there lives.
create function ${s}.renew(_sessions jsonb) returns jsonb language plpgsql as $$
declare
  _store ${s}.store;
  _alive jsonb;
begin
  _store := ${s}.settled(false);
  with alive as (
    update ${s}.sessions set deadline = clock_timestamp() + ttl_ms * interval '1 ms'
    where id in (select asked collate "C" from jsonb_array_elements_text(_sessions) as asked)
    returning id
  )
  select coalesce(jsonb_agg(id), '[]') into _alive from alive;
  return ${s}.reply(_store) || jsonb_build_object('alive', _alive);
end $$;

-- "id"
create function ${s}.revoke(_session jsonb) returns jsonb language plpgsql as $$
declare
  _store ${s}.store;
  _before bigint;
begin
  _store := ${s}.settled(true);
  delete from ${s}.sessions where id = (_session #>> '{}') collate "C";
  if found then
    _before := _store.revision;
    _store := ${s}.end_keys(_store, array[_session #>> '{}']);
    if _store.revision > _before then perform ${s}.keep(_store); end if;
  end if;
  return ${s}.reply(_store);
end $$;

create function ${s}.sweep(_ jsonb) returns jsonb language plpgsql as $$
begin
  return ${s}.reply(${s}.settled(false));
end $$;

-- {from, above, below?, limit, bytes}: keys from \`from\`, above \`above\` and below \`below\`. The page and its revision are read in one statement.
create function ${s}.range(_asked jsonb) returns jsonb language plpgsql as $$
declare
  _from text := _asked ->> 'from';
  _above text := _asked ->> 'above';
  -- No key of at most 1,024 bytes comes after this.
  _below text := coalesce(_asked ->> 'below', repeat(chr(1114111), 257));
  _limit bigint := (_asked ->> 'limit')::bigint;
  _bytes bigint := (_asked ->> 'bytes')::bigint;
  _said jsonb;
begin
  perform ${s}.settled(false);
  select ${s}.reply(store) || page.found || jsonb_build_object('time', extract(epoch from clock_timestamp()) * 1000)
    into _said
    from ${s}.store as store, (
      select jsonb_build_object(
        'page', coalesce(jsonb_agg(jsonb_build_array(key, value, revision, session) order by n) filter (where fits), '[]'),
        'more', coalesce(bool_or(not fits), false)) as found
      from (
        select *, n <= _limit and (n = 1 or sum(size) over (order by n) <= _bytes) as fits from (
          select *, row_number() over (order by key) as n, octet_length(key) + octet_length(value) as size
          from ${s}.entries
          where key >= _from collate "C" and key > _above collate "C" and key < _below collate "C"
          order by key limit _limit + 1
        ) as candidates
      ) as judged
    ) as page;
  return _said;
end $$;

-- {after, limit, bytes}: what the log has above a revision.
create function ${s}.history(_asked jsonb) returns jsonb language plpgsql as $$
declare
  _after bigint := (_asked ->> 'after')::bigint;
  _said jsonb;
begin
  perform ${s}.settled(false);
  select ${s}.reply(store) || jsonb_build_object('batches', coalesce((
    select jsonb_agg(jsonb_build_array(revision, changes) order by revision) from (
      select *, sum(pg_column_size(changes)) over (order by revision) as size
      from (
        select revision, changes from ${s}.changes
        where revision > _after order by revision limit (_asked ->> 'limit')::bigint
      ) as next
    ) as found where revision = _after + 1 or size <= (_asked ->> 'bytes')::bigint
  ), '[]')) into _said from ${s}.store as store;
  return _said;
end $$;
`;
