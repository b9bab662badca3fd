#!lua flags=allow-oom
-- The host, or the owner, ends the room.
--
-- KEYS[1..6]  taken, leases, due, cooling, meta of the shard, and the feed, see room.lua
-- KEYS[7]     room: hash of the room
-- KEYS[8]     members: hash, userId -> seat as JSON
-- ARGV[1]     code, ref, and userId and session or owner; policy

local room = load_room(command.code, KEYS[7], KEYS[8])
local may, reason = authorize(room, command)
if not may then
  return refuse(reason)
end
end_room(room, 'closed')
return reply_revision(room)
