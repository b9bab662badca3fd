#!lua
-- Adds the user to a room, or gives it back the seat that it has there already.
--
-- KEYS[1..6]  taken, leases, due, cooling, meta of the shard, and the feed, see room.lua
-- KEYS[7]     room: hash of the room
-- KEYS[8]     members: hash, userId -> seat as JSON
-- ARGV[1]     code, ref, by; policy
-- ARGV[2]     the member's metadata, opaque; '' for none

local room = load_room(command.code, KEYS[7], KEYS[8])
local by = command.by

if not room or room.ref ~= command.ref then
  return refuse('CODE_EXPIRED')
end
local reason = join_refusal(room, by.userId)
if reason then
  return refuse(reason)
end
local seat = seat_of(room, by.userId)
if seat then
  return resume_seat(room, seat, by)
end
add_seat(room, by, opaque(ARGV[2]))
save_room(room)
return reply_snapshot(room)
