#!lua flags=no-writes
-- The current state of a room.
--
-- KEYS[1..5]  taken, leases, due, cooling of the shard, and the feed, see room.lua
-- KEYS[6]     room: hash of the room
-- KEYS[7]     members: hash, userId -> seat as JSON
-- ARGV[1]     code; ref, to read no later room of that code; joiner, the user that is about to join

local room = load_room(command.code, KEYS[6], KEYS[7])
if command.ref and (not room or room.ref ~= command.ref) then
  return refuse('CODE_EXPIRED')
end
if not room then
  return refuse('ROOM_NOT_FOUND')
end
local reason = command.joiner and join_refusal(room, command.joiner)
if reason then
  return refuse(reason)
end
return reply_snapshot(room)
