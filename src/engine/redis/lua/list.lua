#!lua flags=no-writes
-- The rooms of a shard, a page at a time, in the order of their codes.
--
-- KEYS[1..5]  taken, leases, due, cooling of the shard, and the feed, see room.lua
-- ARGV[1]     after (missing for the first page), limit; stems

local codes = {}
for _, code in ipairs(redis.call('ZRANGE', DUE, 0, -1)) do
  if not command.after or code > command.after then
    codes[#codes + 1] = code
  end
end
table.sort(codes)
local rooms = {}
for index = 1, math.min(#codes, command.limit) do
  local room = load_by_stem(codes[index])
  local count = redis.call('HLEN', room.members)
  rooms[index] = '{"room":' .. cjson.encode(view(room)) .. ',"memberCount":' .. count .. '}'
end
return '{"ok":true,"rooms":' .. list(rooms) .. ',"more":' .. tostring(#codes > command.limit) .. '}'
