#!lua flags=allow-oom
-- The connection is gone. The record of a user with a seat is kept for its return, any other is deleted; but not before
-- the clock has passed the session number, which would otherwise be given to the next session too.
--
-- KEYS[1]  user, see user.lua
-- ARGV[1]  userId, session; policy

local record = load_record()
if not record or record.session ~= command.session then
  return refuse('SESSION_EXPIRED')
end
if record.currentRoom or record.session >= now then
  record.status, record.lastActive = 'away', now
  save_record(record)
else
  redis.call('DEL', KEYS[1])
end
return '{"ok":true}'
