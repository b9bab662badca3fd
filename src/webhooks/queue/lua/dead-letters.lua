#!lua flags=no-writes
-- Dead letters, the newest first.
--
-- KEYS[1..5]  state, due, heads, dead, graves of the endpoint, see room-queues.lua
-- ARGV[1]     before (a sequence number; missing: from the newest), limit; roomQueueKey, unusedTtlMs
--
-- Replies with a list: where the next page begins, '' at the end; then the letters, as they are stored.

local before = command.before and '(' .. string.format('%.0f', command.before) or '+inf'
local ids = redis.call('ZREVRANGEBYSCORE', DEAD, before, '-inf', 'LIMIT', 0, command.limit + 1)
local more = #ids > command.limit
local page = { '' }
for index = 1, math.min(#ids, command.limit) do
  page[#page + 1] = redis.call('HGET', DEAD_LETTERS, ids[index])
end
if more then
  page[1] = redis.call('ZSCORE', DEAD, ids[command.limit])
end
return page
