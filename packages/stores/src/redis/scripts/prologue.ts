/**
 * What every script begins with: the state as it is now, with the sessions ended whose deadline has passed by the server's clock. A script runs alone, so each
 * operation of the store is one script and needs no lock. docs/design/redis.md says what is under which key.
 *
 * KEYS are the seven keys of the namespace, in the order of `layout.ts`; ARGV[1] is the run id of the Redis process that the connection was made to.
 */

/** How much of the log is kept: at least one slab, at most two. */
export interface LogLimits {
  readonly slabRevisions: number;
  readonly slabBytes: number;
}

/** One call of HDEL or ZREM takes this many members: Lua puts at most 8,000 values on its stack. */
const CHUNK = 1_000;

/** Reads the state, and refuses to go on from one that was not written by this process or is not whole. Nothing is written before that. */
export const STATE = `
local META, ENTRIES, INDEX, BOUND, SESSIONS, TTLS, LOG = unpack(KEYS)
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local state = redis.call('HMGET', META, 'run', 'incarnation', 'revision', 'entries', 'bound', 'time', 'mark', 'bytes')
local run, incarnation = state[1], state[2]
local revision, entries, bound = tonumber(state[3]), tonumber(state[4]), tonumber(state[5])
local time, mark, bytes = tonumber(state[6]), tonumber(state[7]), tonumber(state[8])

-- Every part is counted, so that one which Redis evicted, or somebody deleted, is missed.
local function whole()
  return incarnation and entries == redis.call('HLEN', ENTRIES) and entries == redis.call('ZCARD', INDEX)
    and bound == redis.call('ZCARD', BOUND) and redis.call('ZCARD', SESSIONS) == redis.call('HLEN', TTLS)
end
`;

export function prologue({ slabRevisions, slabBytes }: LogLimits): string {
  return `${STATE}
if run ~= ARGV[1] or not whole() then
  return redis.error_reply('ANEW the store begins anew')
end

local changed = false

local function whole_number(n)
  return string.format('%.0f', n)
end

-- The revision and the session of an entry; its value is what follows them.
local function parts(entry)
  local at, session = string.match(entry, '^(%d+) (%S+) ')
  return tonumber(at), session
end

-- Takes the next revision and tells of it. Of the log, all but the last slab and the present one are dropped.
local function record(fields)
  revision = revision + 1
  changed = true
  redis.call('XADD', LOG, whole_number(revision) .. '-0', 'incarnation', incarnation, unpack(fields))
  for _, field in ipairs(fields) do bytes = bytes + #field end
  if revision - mark >= ${slabRevisions} or bytes >= ${slabBytes} then
    redis.call('XTRIM', LOG, 'MINID', whole_number(mark + 1) .. '-0')
    mark, bytes = revision, 0
  end
end

local function each_chunk(list, command, key)
  for from = 1, #list, ${CHUNK} do
    redis.call(command, key, unpack(list, from, math.min(from + ${CHUNK - 1}, #list)))
  end
end

-- All keys of the session go in one revision.
local function finish(session)
  redis.call('ZREM', SESSIONS, session)
  redis.call('HDEL', TTLS, session)
  local pairs_of = redis.call('ZRANGEBYLEX', BOUND, '[' .. session .. ' ', '(' .. session .. '!')
  if #pairs_of == 0 then return end
  local names = {}
  for i, pair in ipairs(pairs_of) do names[i] = string.sub(pair, #session + 2) end
  each_chunk(names, 'HDEL', ENTRIES)
  each_chunk(names, 'ZREM', INDEX)
  each_chunk(pairs_of, 'ZREM', BOUND)
  entries, bound = entries - #names, bound - #names
  record({'expired', cjson.encode(names)})
end

-- The clock was set back: no session may outlive its TTL for that.
if time > now + 1000 then
  local ttls = redis.call('HGETALL', TTLS)
  for i = 1, #ttls, 2 do redis.call('ZADD', SESSIONS, 'LT', now + tonumber(ttls[i + 1]), ttls[i]) end
  changed = true
end

for _, session in ipairs(redis.call('ZRANGEBYSCORE', SESSIONS, '-inf', now)) do finish(session) end

-- What every reply begins with: the revision, the incarnation, and how long it is until a session ends (-1: none does).
local function reply(...)
  if changed then
    redis.call('HSET', META, 'revision', whole_number(revision), 'entries', entries, 'bound', bound,
      'time', whole_number(now), 'mark', whole_number(mark), 'bytes', bytes)
  end
  local first = redis.call('ZRANGE', SESSIONS, 0, 0, 'WITHSCORES')[2]
  return {revision, incarnation, first and math.max(0, tonumber(first) - now) or -1, ...}
end
`;
}
