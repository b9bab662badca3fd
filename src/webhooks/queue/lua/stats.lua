#!lua flags=no-writes
-- The figures of an endpoint.
--
-- KEYS[1..5]  state, due, heads, dead, graves of the endpoint, see room-queues.lua
-- ARGV[1]     roomQueueKey, unusedTtlMs

local stored = redis.call('HMGET', STATE, 'pending', 'dropped', 'lost', 'lastReason', 'lastFailedAt', 'lastDeliveredAt')
local stats = {
  pending = tonumber(stored[1] or '0'),
  dead = redis.call('ZCARD', DEAD),
  dropped = tonumber(stored[2] or '0'),
  lost = tonumber(stored[3] or '0'),
}
if stored[4] then
  stats.lastError = { reason = stored[4], at = tonumber(stored[5]) }
end
if stored[6] then
  stats.lastDeliveredAt = tonumber(stored[6])
end
return cjson.encode(stats)
