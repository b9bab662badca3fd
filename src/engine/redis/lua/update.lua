#!lua
-- The host changes what the room says of itself, or a member what its seat says.
--
-- KEYS[1..4]  taken, leases, due, cooling of the shard, see room.lua
-- KEYS[5]     room: hash of the room
-- KEYS[6]     members: hash, userId -> seat as JSON
-- ARGV[1]     code, ref, userId, session, change { of, to }; policy
-- ARGV[2]     the new metadata, opaque; '' for no change of it

local room = load_room(command.code, KEYS[5], KEYS[6])
local seat, reason = locate(room, command)
if not seat then
  return refuse(reason)
end
local of_room = command.change.of == 'room'
if of_room and room.hostId ~= command.userId then
  return refuse('FORBIDDEN')
end
local changes = command.change.to
changes.metadata = opaque(ARGV[2])
if next(changes) == nil then
  return placed(room)
end
local changed = of_room and room or seat
for field, value in pairs(changes) do
  changed[field] = value
end
room.lastActive = now
if of_room then
  local info = view(room)
  info.rev = room.rev + 1
  bump(room, 'room:updated', { room = info })
else
  put_seat(room, seat)
  bump(room, 'member:updated', { seat = seat, hostId = room.hostId })
end
settle(room)
return placed(room)
