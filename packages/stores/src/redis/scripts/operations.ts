/**
 * The store's operations, one script each. Those that take no memory work even when Redis has none left: a full Redis must not end sessions.
 * Their arguments begin at ARGV[2].
 */

const HEADER = "#!lua\n";
const FRUGAL = "#!lua flags=allow-oom\n";

export interface Operation {
  readonly header: string;
  readonly body: string;
}

/** ARGV: prefix, whether `after` is given, after, limit, bytes. Gives: more, the time, and keys with their entries. */
export const RANGE: Operation = {
  header: FRUGAL,
  body: `
local prefix, limit, bytes_max = ARGV[2], tonumber(ARGV[5]), tonumber(ARGV[6])
local from = '[' .. prefix
if ARGV[3] == '1' and ARGV[4] >= prefix then from = '(' .. ARGV[4] end
-- UTF-8 has no byte 255, so nothing with the prefix comes after it.
local names = redis.call('ZRANGEBYLEX', INDEX, from, '(' .. prefix .. '\\255', 'LIMIT', 0, limit + 1)
local more = #names > limit
if more then names[#names] = nil end
local found = {}
if #names > 0 then
  local size = 0
  for i, entry in ipairs(redis.call('HMGET', ENTRIES, unpack(names))) do
    size = size + #names[i] + #entry
    if size > bytes_max and i > 1 then
      more = true
      break
    end
    found[#found + 1] = names[i]
    found[#found + 1] = entry
  end
end
return reply(more and 1 or 0, now, found)
`,
};

/** ARGV: incarnation, number of guards, key and revision of each, then of each write: put, bind or delete, key, session, value. */
export const COMMIT: Operation = {
  header: HEADER,
  body: `
if ARGV[2] ~= incarnation then return reply('incarnation', {}, {}) end
local guards = tonumber(ARGV[3])
local at = 4

local failed = {}
if guards > 0 then
  local names = {}
  for i = 1, guards do names[i] = ARGV[at + 2 * (i - 1)] end
  for i, entry in ipairs(redis.call('HMGET', ENTRIES, unpack(names))) do
    local is = entry and parts(entry) or 0
    if is ~= tonumber(ARGV[at + 2 * i - 1]) then failed[#failed + 1] = names[i] end
  end
  at = at + 2 * guards
end

local gone, checked = {}, {}
for i = at, #ARGV, 4 do
  local session = ARGV[i + 2]
  if ARGV[i] == 'bind' and not checked[session] then
    checked[session] = true
    if redis.call('HEXISTS', TTLS, session) == 0 then gone[#gone + 1] = session end
  end
end
if #failed > 0 or #gone > 0 then return reply('conflict', failed, gone) end
if at > #ARGV then return reply('committed', {}, {}) end

local names = {}
for i = at, #ARGV, 4 do names[#names + 1] = ARGV[i + 1] end
local before = redis.call('HMGET', ENTRIES, unpack(names))
local new, put, unbind, bind, deleted, fields = {}, {}, {}, {}, {}, {}
local stamp = whole_number(revision + 1) .. ' '
for n, name in ipairs(names) do
  local i = at + 4 * (n - 1)
  local former = '-'
  if before[n] then
    local _, session = parts(before[n])
    former = session
  end
  if ARGV[i] ~= 'delete' then
    local session = ARGV[i] == 'bind' and ARGV[i + 2] or '-'
    local tail = session .. ' ' .. ARGV[i + 3]
    put[#put + 1] = name
    put[#put + 1] = stamp .. tail
    fields[#fields + 1] = '+' .. name
    fields[#fields + 1] = tail
    if not before[n] then
      new[#new + 1] = 0
      new[#new + 1] = name
      entries = entries + 1
    end
    if former ~= session then
      if former ~= '-' then unbind[#unbind + 1] = former .. ' ' .. name end
      if session ~= '-' then
        bind[#bind + 1] = 0
        bind[#bind + 1] = session .. ' ' .. name
        bound = bound + 1
      end
    end
  elseif before[n] then
    deleted[#deleted + 1] = name
    fields[#fields + 1] = '-' .. name
    fields[#fields + 1] = ''
    entries = entries - 1
    if former ~= '-' then unbind[#unbind + 1] = former .. ' ' .. name end
  end
end
if #fields == 0 then return reply('committed', {}, {}) end
bound = bound - #unbind
if #put > 0 then redis.call('HSET', ENTRIES, unpack(put)) end
if #new > 0 then redis.call('ZADD', INDEX, unpack(new)) end
if #deleted > 0 then
  redis.call('HDEL', ENTRIES, unpack(deleted))
  redis.call('ZREM', INDEX, unpack(deleted))
end
if #unbind > 0 then redis.call('ZREM', BOUND, unpack(unbind)) end
if #bind > 0 then redis.call('ZADD', BOUND, unpack(bind)) end
record(fields)
return reply('committed', {}, {})
`,
};

/** ARGV: the new session's id, its TTL. */
export const OPEN_SESSION: Operation = {
  header: HEADER,
  body: `
local ttl = tonumber(ARGV[3])
redis.call('HSET', TTLS, ARGV[2], ARGV[3])
redis.call('ZADD', SESSIONS, now + ttl, ARGV[2])
changed = true
return reply()
`,
};

/** ARGV: sessions. Gives those that live. */
export const RENEW: Operation = {
  header: FRUGAL,
  body: `
local alive = {}
if #ARGV > 1 then
  local ids = {}
  for i = 2, #ARGV do ids[i - 1] = ARGV[i] end
  for i, ttl in ipairs(redis.call('HMGET', TTLS, unpack(ids))) do
    if ttl then
      alive[#alive + 1] = ids[i]
      redis.call('ZADD', SESSIONS, now + tonumber(ttl), ids[i])
      changed = true
    end
  end
end
return reply(alive)
`,
};

/** ARGV: a session. */
export const REVOKE: Operation = {
  header: FRUGAL,
  body: `
if redis.call('HEXISTS', TTLS, ARGV[2]) == 1 then finish(ARGV[2]) end
return reply()
`,
};

/** Ends what is overdue, and nothing else. */
export const SWEEP: Operation = {
  header: FRUGAL,
  body: `
return reply()
`,
};

/** ARGV: a revision, how many. Gives: whether the log goes back that far, and the batches above it as the stream has them. */
export const HISTORY: Operation = {
  header: FRUGAL,
  body: `
local after = tonumber(ARGV[2])
if after > revision then return reply('above', {}) end
if after == revision then return reply('told', {}) end
local found = redis.call('XRANGE', LOG, whole_number(after + 1) .. '-0', '+', 'COUNT', ARGV[3])
if not found[1] or found[1][1] ~= whole_number(after + 1) .. '-0' then return reply('below', {}) end
return reply('told', found)
`,
};
