#!lua flags=no-writes
-- Which room has a code, and whether a user may join it: a read without the members.
--
-- KEYS[1..6]  taken, leases, due, cooling, meta of the shard, and the feed, see room.lua
-- KEYS[7]     room: hash of the room
-- KEYS[8]     members: hash, userId -> seat as JSON
-- ARGV[1]     code; ref, to find no later room of that code; joiner, the user that is about to join

local room, reason = find_room(command, KEYS[7], KEYS[8])
if not room then
  return refuse(reason)
end
reason = command.joiner and join_refusal(room, command.joiner)
if reason then
  return refuse(reason)
end
return cjson.encode({ ok = true, ref = room.ref, rev = room.rev })
