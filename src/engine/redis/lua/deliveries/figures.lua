#!lua flags=no-writes
-- How an endpoint does.
--
-- KEYS[1..5]  state, due, heads, dead, graves of the endpoint, see lanes.lua
-- ARGV[1]     lanes, forgottenAfterMs

local kept = redis.call('HMGET', STATE, 'pending', 'dropped', 'lost', 'lastReason', 'lastFailedAt', 'lastDeliveredAt')
local told = {
  pending = tonumber(kept[1] or '0'),
  dead = redis.call('ZCARD', DEAD),
  dropped = tonumber(kept[2] or '0'),
  lost = tonumber(kept[3] or '0'),
}
if kept[4] then
  told.lastError = { reason = kept[4], at = tonumber(kept[5]) }
end
if kept[6] then
  told.lastDeliveredAt = tonumber(kept[6])
end
return cjson.encode(told)
