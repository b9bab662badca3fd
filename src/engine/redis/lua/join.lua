#!lua
-- Takes a seat in a room, or comes back to the one that the user has there.
--
-- KEYS[1..5]  taken, leases, due, cooling of the shard, and the feed, see room.lua
-- KEYS[6]     room: hash of the room
-- KEYS[7]     members: hash, userId -> seat as JSON
-- ARGV[1]     code, ref, by; policy
-- ARGV[2]     the member's metadata, opaque; '' for none

local room = load_room(command.code, KEYS[6], KEYS[7])
local by = command.by

if not room or room.ref ~= command.ref then
  return refuse('CODE_EXPIRED')
end
local reason = why_not_join(room, by.userId)
if reason then
  return refuse(reason)
end
local seat = seat_of(room, by.userId)
if seat then
  return come_back(room, seat, by)
end
sit(room, by, opaque(ARGV[2]))
settle(room)
return placed(room)
