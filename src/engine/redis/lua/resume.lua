#!lua flags=allow-oom
-- A member comes back to its seat with a new connection.
--
-- KEYS[1..6]  taken, leases, due, cooling, meta of the shard, and the feed, see room.lua
-- KEYS[7]     room: hash of the room
-- KEYS[8]     members: hash, userId -> seat as JSON
-- ARGV[1]     code, ref, userId, session (the new one), nodeId; policy

local room = load_room(command.code, KEYS[7], KEYS[8])
local seat, reason = find_seat_of_any_session(room, command)
if not seat then
  return refuse(reason)
end
return resume_seat(room, seat, command)
