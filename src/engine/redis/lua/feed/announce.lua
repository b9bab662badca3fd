#!lua
-- Appends an event that belongs to no room, unless the same was appended within dedupeMs.
--
-- KEYS[1]  feed    stream, see feed.lua
-- KEYS[2]  dedupe  string, exists while the same event is not appended again
-- ARGV[1]  key (the dedupe key), type, dedupeMs; feed { channel, kept, nodeId }
-- ARGV[2]  the other fields of the event's JSON, after the common part

if not redis.call('SET', KEYS[2], '1', 'NX', 'PX', command.dedupeMs) then
  return 'duplicate'
end
local at = string.format('%.0f', now)
local text = '{"id":"' .. command.key .. ':' .. at
  .. '","type":"' .. command.type
  .. '","code":null,"ref":null,"rev":null,"userId":null,"serverId":"' .. command.feed.nodeId
  .. '","timestamp":' .. at .. ARGV[2]
redis.call('XADD', KEYS[1], 'MAXLEN', '~', command.feed.kept, '*', 'event', text)
redis.call('PUBLISH', command.feed.channel, text)
return 'appended'
