#!lua flags=allow-oom
-- Puts dead letters back behind what waits of their rooms, the oldest first.
--
-- KEYS[1..5]  state, due, heads, dead, graves of the endpoint, see lanes.lua
-- ARGV[1]     eventIds (missing: all), upTo (the newest burial that is meant; missing: the newest there is),
--             mostReplayed; lanes, forgottenAfterMs
--
-- Answers how many there were, and the newest burial that is meant when more are left.

local newest = command.upTo or tonumber(redis.call('HGET', STATE, 'burials') or '0')
local ids = {}
if command.eventIds then
  for _, id in ipairs(command.eventIds) do
    local number = redis.call('ZSCORE', DEAD, id)
    if number then
      ids[#ids + 1] = { id = id, number = tonumber(number) }
    end
  end
  table.sort(ids, function(a, b) return a.number < b.number end)
else
  local found = redis.call('ZRANGEBYSCORE', DEAD, '-inf', newest, 'LIMIT', 0, command.mostReplayed)
  for _, id in ipairs(found) do
    ids[#ids + 1] = { id = id }
  end
end

local replayed = 0
for _, each in ipairs(ids) do
  local grave = redis.call('HGET', GRAVES, each.id)
  -- Named twice, it is there once.
  if grave and redis.call('ZREM', DEAD, each.id) == 1 then
    redis.call('HDEL', GRAVES, each.id)
    local text = string.match(grave, '^[^\n]*\n(.*)$')
    enqueue(head_in(text).lane, text)
    replayed = replayed + 1
  end
end
queue()
local left = not command.eventIds and #ids == command.mostReplayed
return cjson.encode({ replayed = replayed, upTo = left and newest or nil })
