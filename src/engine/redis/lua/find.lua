#!lua flags=no-writes
-- Whether a user is a member of a room: a read without the room.
--
-- KEYS[1..6]  taken, leases, due, cooling, meta of the shard, and the feed, see room.lua
-- KEYS[7]     room: hash of the room
-- KEYS[8]     members: hash, userId -> seat as JSON
-- ARGV[1]     code, ref, userId

local seat, reason = find_seat_of_any_session(load_room(command.code, KEYS[7], KEYS[8]), command)
if not seat then
  return refuse(reason)
end
return cjson.encode({ ok = true, state = seat.state })
