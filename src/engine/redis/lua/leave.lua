#!lua flags=allow-oom
-- A member leaves for good.
--
-- KEYS[1..6]  taken, leases, due, cooling, meta of the shard, and the feed, see room.lua
-- KEYS[7]     room: hash of the room
-- KEYS[8]     members: hash, userId -> seat as JSON
-- ARGV[1]     code, ref, userId, session; policy

local room = load_room(command.code, KEYS[7], KEYS[8])
local seat, reason = find_seat(room, command)
if not seat then
  return refuse(reason)
end
room.lastActive = now
remove_seat(room, seat, 'left')
return reply_revision(room)
