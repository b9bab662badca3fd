#!lua flags=allow-oom
-- Moves dead letters to the end of their rooms' queues, the oldest first.
--
-- KEYS[1..5]  state, due, heads, dead, graves of the endpoint, see room-queues.lua
-- ARGV[1]     eventIds (missing: all), upTo (the last sequence number to replay; missing: the newest there is),
--             maxReplayed; roomQueueKey, unusedTtlMs
--
-- Replies with how many there were, and with `upTo` for the next call when more are left.

local newest = command.upTo or tonumber(redis.call('HGET', STATE, 'burials') or '0')
local letters = {}
if command.eventIds then
  for _, id in ipairs(command.eventIds) do
    local dead_sequence = redis.call('ZSCORE', DEAD, id)
    if dead_sequence then
      letters[#letters + 1] = { id = id, sequence = tonumber(dead_sequence) }
    end
  end
  table.sort(letters, function(a, b) return a.sequence < b.sequence end)
else
  local ids = redis.call('ZRANGEBYSCORE', DEAD, '-inf', newest, 'LIMIT', 0, command.maxReplayed)
  for _, id in ipairs(ids) do
    letters[#letters + 1] = { id = id }
  end
end

local replayed = 0
for _, letter in ipairs(letters) do
  local stored = redis.call('HGET', DEAD_LETTERS, letter.id)
  -- An id that is named twice is replayed once.
  if stored and redis.call('ZREM', DEAD, letter.id) == 1 then
    redis.call('HDEL', DEAD_LETTERS, letter.id)
    local text = string.match(stored, '^[^\n]*\n(.*)$')
    append(parse_head(text).room_queue, text)
    replayed = replayed + 1
  end
end
flush()
local left = not command.eventIds and #letters == command.maxReplayed
return cjson.encode({ replayed = replayed, upTo = left and newest or nil })
