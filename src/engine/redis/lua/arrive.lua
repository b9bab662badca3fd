#!lua
-- A new connection of the user becomes its current session. The seat in the record is kept.
--
-- KEYS[1]  user, see user.lua
-- ARGV[1]  userId, nodeId, name; policy

local before = load_record()
-- The instant, when that is greater: session numbers keep growing even after the record has expired.
local session = math.max(now, (before and before.session or 0) + 1)
save_record({
  session = session,
  serverId = command.nodeId,
  status = 'online',
  currentRoom = before and before.currentRoom,
  ref = before and before.ref,
  connectedAt = now,
  lastActive = now,
  name = command.name or (before and before.name),
  mediaType = before and before.mediaType,
})
local previous = before and { session = before.session, nodeId = before.serverId, online = before.status == 'online' }
local seat = before and before.currentRoom and { code = before.currentRoom, ref = before.ref }
return cjson.encode({
  ok = true,
  session = session,
  connectedAt = now,
  previous = previous or cjson.null,
  seat = seat or cjson.null,
})
