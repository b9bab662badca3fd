#!lua flags=allow-oom
-- The host ends the room for everybody.
--
-- KEYS[1..4]  taken, leases, due, cooling of the shard, see room.lua
-- KEYS[5]     room: hash of the room
-- KEYS[6]     members: hash, userId -> seat as JSON
-- ARGV[1]     code, ref, userId, session; policy

local room = load_room(command.code, KEYS[5], KEYS[6])
local seat, reason = locate(room, command)
if not seat then
  return refuse(reason)
end
if room.hostId ~= command.userId then
  return refuse('FORBIDDEN')
end
end_room(room, 'closed')
return moved(room)
