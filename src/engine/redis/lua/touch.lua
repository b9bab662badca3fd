#!lua flags=allow-oom
-- Refreshes the user's record, with the room of its seat. Creates the record again when it had expired, and replaces that of
-- an earlier session, which the store has gone back to.
--
-- KEYS[1]  user, see user.lua
-- ARGV[1]  userId, session, nodeId, connectedAt, name, mediaType, seat { code, ref } (missing for none); policy

local before = load_record()
if before and before.session > command.session then
  return refuse('SESSION_EXPIRED')
end
local seat = command.seat or {}
save_record({
  session = command.session,
  serverId = command.nodeId,
  status = 'online',
  currentRoom = seat.code,
  ref = seat.ref,
  connectedAt = command.connectedAt,
  lastActive = now,
  name = command.name,
  mediaType = command.mediaType,
})
return cjson.encode({ ok = true, now = now })
