#!lua
-- Tells something that belongs to no room, unless it was told lately.
--
-- KEYS[1]  feed   stream, see feed.lua
-- KEYS[2]  quiet  string that is there for as long as it is not told again
-- ARGV[1]  name, type, quietMs; feed { channel, kept, nodeId }
-- ARGV[2]  what is particular to it: JSON that goes on after the common part

if not redis.call('SET', KEYS[2], '1', 'NX', 'PX', command.quietMs) then
  return 'quiet'
end
local at = string.format('%.0f', now)
local text = '{"id":"' .. command.name .. ':' .. at
  .. '","type":"' .. command.type
  .. '","code":null,"ref":null,"rev":null,"userId":null,"serverId":"' .. command.feed.nodeId
  .. '","timestamp":' .. at .. ARGV[2]
redis.call('XADD', KEYS[1], 'MAXLEN', '~', command.feed.kept, '*', 'event', text)
redis.call('PUBLISH', command.feed.channel, text)
return 'told'
