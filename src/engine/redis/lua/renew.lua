#!lua flags=allow-oom
-- Keep-alive: a request of a member extends the lease of its seat and counts as activity of its room.
--
-- KEYS[1..6]  taken, leases, due, cooling, meta of the shard, and the feed, see room.lua
-- KEYS[7]     room: hash of the room
-- KEYS[8]     members: hash, userId -> seat as JSON
-- ARGV[1]     code, ref, userId, session; policy

local room = load_room(command.code, KEYS[7], KEYS[8])
local seat, reason = find_seat(room, command)
if not seat then
  return refuse(reason)
end
renew_seat(room, seat)
room.lastActive = now
save_room(room)
return cjson.encode({ ok = true, rev = room.rev, now = now })
