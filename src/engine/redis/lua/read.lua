#!lua flags=no-writes
-- The current state of a room.
--
-- KEYS[1..6]  taken, leases, due, cooling, meta of the shard, and the feed, see room.lua
-- KEYS[7]     room: hash of the room
-- KEYS[8]     members: hash, userId -> seat as JSON
-- ARGV[1]     code; ref, to read no later room of that code; known { rev, members }, to be told only that this is the
--             revision and that these users are members: no seat is loaded then

local room, reason = find_room(command, KEYS[7], KEYS[8])
if not room then
  return refuse(reason)
end

local function is_current(known)
  if known.rev ~= room.rev then
    return false
  end
  for _, user_id in ipairs(known.members) do
    if redis.call('HEXISTS', room.members, user_id) == 0 then
      return false
    end
  end
  return true
end

if command.known and is_current(command.known) then
  return refuse('UNCHANGED')
end
return reply_snapshot(room)
