#!lua flags=allow-oom
-- A member comes back to its seat with a new connection.
--
-- KEYS[1..4]  taken, leases, due, cooling of the shard, see room.lua
-- KEYS[5]     room: hash of the room
-- KEYS[6]     members: hash, userId -> seat as JSON
-- ARGV[1]     code, ref, userId, session (the new one), nodeId; policy

local room = load_room(command.code, KEYS[5], KEYS[6])
local seat, reason = locate_seat(room, command)
if not seat then
  return refuse(reason)
end
return come_back(room, seat, command)
