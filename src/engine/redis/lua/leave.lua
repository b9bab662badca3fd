#!lua flags=allow-oom
-- A member leaves for good.
--
-- KEYS[1..5]  taken, leases, due, cooling of the shard, and the feed, see room.lua
-- KEYS[6]     room: hash of the room
-- KEYS[7]     members: hash, userId -> seat as JSON
-- ARGV[1]     code, ref, userId, session; policy

local room = load_room(command.code, KEYS[6], KEYS[7])
local seat, reason = find_seat(room, command)
if not seat then
  return refuse(reason)
end
room.lastActive = now
remove_seat(room, seat, 'left')
return reply_revision(room)
