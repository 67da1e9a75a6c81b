/**
 * Begins a new incarnation: the store is new, or another Redis process goes on with its data, or a part of the data is gone. Writes that were acknowledged may be
 * missing, which nobody can tell from here; so everybody lists again, and every session gets a full TTL. What is left is made whole.
 *
 * ARGV[2] is the new incarnation's name. Where somebody else was quicker this does nothing.
 */
import { STATE } from "./prologue.ts";

export const BEGIN = `#!lua flags=allow-oom
${STATE}
if run == ARGV[1] and whole() then return 'begun' end

-- Who calls may have been connected to a process that is no more, through something that connects again by itself.
if string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') ~= ARGV[1] then
  return redis.error_reply('STALE the connection is not with the Redis process it was made to')
end

local ttls = redis.call('HGETALL', TTLS)
local alive = {}
redis.call('DEL', SESSIONS, LOG)
for i = 1, #ttls, 2 do
  alive[ttls[i]] = true
  redis.call('ZADD', SESSIONS, now + tonumber(ttls[i + 1]), ttls[i])
end

revision, entries, bound = revision or 0, 0, 0
redis.call('DEL', INDEX, BOUND)
local orphans, cursor = {}, '0'
repeat
  local found = redis.call('HSCAN', ENTRIES, cursor, 'COUNT', 1000)
  cursor = found[1]
  for i = 1, #found[2], 2 do
    local name = found[2][i]
    local at, session = string.match(found[2][i + 1], '^(%d+) (%S+) ')
    if not at or (session ~= '-' and not alive[session]) then
      orphans[#orphans + 1] = name
    else
      revision = math.max(revision, tonumber(at))
      redis.call('ZADD', INDEX, 0, name)
      if session ~= '-' then redis.call('ZADD', BOUND, 0, session .. ' ' .. name) end
    end
  end
until cursor == '0'
for _, name in ipairs(orphans) do redis.call('HDEL', ENTRIES, name) end

redis.call('HSET', META, 'format', 1, 'run', ARGV[1], 'incarnation', ARGV[2],
  'revision', string.format('%.0f', revision), 'entries', redis.call('HLEN', ENTRIES), 'bound', redis.call('ZCARD', BOUND),
  'time', string.format('%.0f', now), 'mark', string.format('%.0f', revision), 'bytes', 0)
return 'begun'
`;
