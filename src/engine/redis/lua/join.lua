#!lua
-- Takes a seat in a room, or comes back to the one that the user has there.
--
-- KEYS[1..4]  taken, leases, due, cooling of the shard, see room.lua
-- KEYS[5]     room: hash of the room
-- KEYS[6]     members: hash, userId -> seat as JSON
-- ARGV[1]     code, ref, by; policy
-- ARGV[2]     the member's metadata, opaque; '' for none

local room = load_room(command.code, KEYS[5], KEYS[6])
local by = command.by

-- Ids hold no spaces, so the list of the banned is text with spaces between.
local function is_banned()
  return string.find(' ' .. (room.banned or '') .. ' ', ' ' .. by.userId .. ' ', 1, true)
end

if not room or room.ref ~= command.ref then
  return refuse('CODE_EXPIRED')
end
if is_banned() then
  return refuse('BANNED')
end
local seat = seat_of(room, by.userId)
-- Who has a seat already may always come back to it, into a full or locked room too.
if seat then
  return come_back(room, seat, by)
end
if room.locked then
  return refuse('ROOM_LOCKED')
end
if redis.call('HLEN', room.members) >= room.maxUsers then
  return refuse('ROOM_FULL')
end
sit(room, by, opaque(ARGV[2]))
settle(room)
return placed(room)
