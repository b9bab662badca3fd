#!lua flags=allow-oom
-- The connection is gone. Who holds a seat may come back to it; of the others nothing is kept, once
-- the clock has passed their number: forgotten before, it would be given to the next session too.
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
