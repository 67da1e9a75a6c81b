/**
 * The store's operations as functions in Postgres, so that each is one statement in one transaction of its own: no lock outlives a client that is stopped or cut off.
 * They take and give JSON. Replies have `r` (revision), `i` (incarnation) and `n` (milliseconds until a session may end, null when there is none).
 */

export const operations = (s: string): string => `
-- {incarnation, guards: [{k, r}], writes: [{k, v?, s?}]}, several of them, each for itself. A write without a value deletes.
create function ${s}.commit(_commits jsonb) returns jsonb language plpgsql as $$
declare
  _now ${s}.state := ${s}.settled(true);
  _before bigint := _now.revision;
  _commit jsonb;
  _failed jsonb;
  _gone jsonb;
  _changes jsonb;
  _said jsonb[] := '{}';
begin
  for _commit in select * from jsonb_array_elements(_commits) loop
    if _commit ->> 'incarnation' <> _now.incarnation then
      _said := _said || jsonb_build_object('kind', 'incarnation', 'r', _now.revision);
      continue;
    end if;
    select jsonb_agg(distinct g.k) into _failed
      from jsonb_to_recordset(_commit -> 'guards') as g(k text collate "C", r bigint)
      where coalesce((select e.revision from ${s}.entries as e where e.key = g.k), 0) <> g.r;
    select jsonb_agg(distinct w.s) into _gone
      from jsonb_to_recordset(_commit -> 'writes') as w(s text collate "C")
      where w.s is not null and not exists (select from ${s}.sessions where id = w.s);
    if _failed is not null or _gone is not null then
      _said := _said || jsonb_build_object('kind', 'conflict', 'r', _now.revision, 'failed', _failed, 'gone', _gone);
      continue;
    end if;
    with
      w as materialized (
        select * from jsonb_to_recordset(_commit -> 'writes') as w(k text collate "C", v text, s text collate "C")
      ),
      written as (
        insert into ${s}.entries (key, value, revision, session)
        select k, v, _now.revision + 1, s from w where v is not null
        on conflict (key) do update set value = excluded.value, revision = excluded.revision, session = excluded.session
      ),
      -- An array, so that each key is looked up: a join may read the whole table instead.
      deleted as (delete from ${s}.entries where key = any (array(select k from w where v is null)) returning key)
    select jsonb_agg(change) into _changes from (
      select jsonb_build_object('put', k, 'value', v, 'session', s) as change from w where v is not null
      union all
      select jsonb_build_object('delete', key) from deleted
    ) as told;
    if _changes is not null then _now := ${s}.record(_now, _changes); end if;
    _said := _said || jsonb_build_object('kind', 'committed', 'r', _now.revision);
  end loop;
  if _now.revision > _before then perform ${s}.keep(_now); end if;
  return ${s}.reply(_now.incarnation, _now.revision, _now.first) || jsonb_build_object('said', to_jsonb(_said));
end $$;

-- {id, ttl}
create function ${s}.open_session(_asked jsonb) returns jsonb language plpgsql as $$
declare
  _now ${s}.state := ${s}.settled(false);
  _deadline timestamptz;
begin
  insert into ${s}.sessions (id, ttl_ms, deadline)
    select id, ttl, clock_timestamp() + ttl * interval '1 ms'
    from jsonb_to_record(_asked) as asked(id text, ttl bigint)
    returning deadline into _deadline;
  return ${s}.reply(_now.incarnation, _now.revision, least(_now.first, _deadline));
end $$;

-- [id]: one statement for all sessions of a node. Once nothing is overdue, whatever is there lives.
create function ${s}.renew(_sessions jsonb) returns jsonb language plpgsql as $$
declare
  _now ${s}.state := ${s}.settled(false);
  _alive jsonb;
begin
  with alive as (
    update ${s}.sessions set deadline = clock_timestamp() + ttl_ms * interval '1 ms'
    where id in (select asked collate "C" from jsonb_array_elements_text(_sessions) as asked)
    returning id
  )
  select coalesce(jsonb_agg(id), '[]') into _alive from alive;
  return ${s}.reply(_now.incarnation, _now.revision, _now.first) || jsonb_build_object('alive', _alive);
end $$;

-- "id"
create function ${s}.revoke(_session jsonb) returns jsonb language plpgsql as $$
declare
  _now ${s}.state := ${s}.settled(true);
begin
  delete from ${s}.sessions where id = (_session #>> '{}') collate "C";
  if found then _now := ${s}.end_keys(_now, array[_session #>> '{}']); end if;
  return ${s}.reply(_now.incarnation, _now.revision, _now.first);
end $$;

create function ${s}.sweep(_ jsonb) returns jsonb language plpgsql as $$
declare
  _now ${s}.state := ${s}.settled(false);
begin
  return ${s}.reply(_now.incarnation, _now.revision, _now.first);
end $$;

-- {from, above, below?, limit, bytes}: keys from \`from\`, above \`above\` and below \`below\`. The page and its revision are read in one statement.
create function ${s}.range(_asked jsonb) returns jsonb language plpgsql as $$
declare
  _now ${s}.state := ${s}.settled(false);
  _from text := _asked ->> 'from';
  _above text := _asked ->> 'above';
  -- No key of at most 1,024 bytes comes after this.
  _below text := coalesce(_asked ->> 'below', repeat(chr(1114111), 257));
  _limit bigint := (_asked ->> 'limit')::bigint;
  _bytes bigint := (_asked ->> 'bytes')::bigint;
  _said jsonb;
begin
  select ${s}.reply(store.incarnation, store.revision, _now.first) || page.found
      || jsonb_build_object('time', extract(epoch from clock_timestamp()) * 1000)
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
  _now ${s}.state := ${s}.settled(false);
  _after bigint := (_asked ->> 'after')::bigint;
  _said jsonb;
begin
  select ${s}.reply(store.incarnation, store.revision, _now.first) || jsonb_build_object('batches', coalesce((
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
