#!lua
-- Changes the settings of the room, by its host or the owner; or the profile of a seat, by its member.
--
-- KEYS[1..6]  taken, leases, due, cooling, meta of the shard, and the feed, see room.lua
-- KEYS[7]     room: hash of the room
-- KEYS[8]     members: hash, userId -> seat as JSON
-- ARGV[1]     code, ref, userId and session or owner, change { subject, values }; policy
-- ARGV[2]     the new metadata, opaque; '' to leave it unchanged

local room = load_room(command.code, KEYS[7], KEYS[8])
local changes_room = command.change.subject == 'room'
-- The seat; for a change of the room, true when the sender may change it.
local seat, reason
if changes_room then
  seat, reason = authorize(room, command)
else
  seat, reason = find_seat(room, command)
end
if not seat then
  return refuse(reason)
end
local changes = command.change.values
changes.metadata = opaque(ARGV[2])
if next(changes) == nil then
  return reply_snapshot(room)
end
local changed = changes_room and room or seat
for field, value in pairs(changes) do
  changed[field] = value
end
room.lastActive = now
if changes_room then
  -- Settings that were changed in this epoch are not replaced by those of a copy from before it.
  room.leapedTo = room.leapedTo and room.rev + LEAP
  local info = fields_of(room)
  info.rev = room.rev + 1
  next_revision(room, 'room:updated', { room = info })
else
  write_seat(room, seat)
  next_revision(room, 'member:updated', { seat = seat, hostId = room.hostId })
end
save_room(room)
return reply_snapshot(room)
