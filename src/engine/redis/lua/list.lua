#!lua flags=no-writes
-- A page of the rooms of a shard, in the order of their codes.
--
-- KEYS[1..6]  taken, leases, due, cooling, meta of the shard, and the feed, see room.lua
-- ARGV[1]     after (missing for the first page), limit, shard; pool, keyPrefixes

-- The next 1 of the bitmap: the cost of a page depends on its own rooms, not on how many rooms there are.
local function next_marked(from)
  if from >= command.pool.perShard then
    return -1
  end
  return redis.call('BITPOS', TAKEN, 1, from, command.pool.perShard - 1, 'BIT')
end

local rooms, more = {}, false
local index = next_marked(command.after and index_of(command.after) + 1 or 0)
while index >= 0 do
  -- No room: the code is cooling.
  local room = load_by_code(code_at(index))
  if room and #rooms == command.limit then
    more = true
    break
  end
  if room then
    local count = redis.call('HLEN', room.members)
    rooms[#rooms + 1] = '{"room":' .. cjson.encode(fields_of(room)) .. ',"memberCount":' .. count .. '}'
  end
  index = next_marked(index + 1)
end
return '{"ok":true,"rooms":' .. list(rooms) .. ',"more":' .. tostring(more) .. '}'
