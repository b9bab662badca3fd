#!lua
-- The host, or the owner, changes what the room says of itself, or a member what its seat says.
--
-- KEYS[1..5]  taken, leases, due, cooling of the shard, and the feed, see room.lua
-- KEYS[6]     room: hash of the room
-- KEYS[7]     members: hash, userId -> seat as JSON
-- ARGV[1]     code, ref, userId and session or owner, change { of, to }; policy
-- ARGV[2]     the new metadata, opaque; '' for no change of it

local room = load_room(command.code, KEYS[6], KEYS[7])
local of_room = command.change.of == 'room'
-- The seat itself, or that the room may be changed.
local seat, reason
if of_room then
  seat, reason = govern(room, command)
else
  seat, reason = locate(room, command)
end
if not seat then
  return refuse(reason)
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
