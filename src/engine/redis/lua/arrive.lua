#!lua flags=allow-oom
-- A new connection of the user becomes its current session. The seat in the record is kept.
-- When memory is short, only a user with a record may arrive: a connection that was lost for a moment costs no seat then.
--
-- KEYS[1]  user, see user.lua
-- ARGV[1]  userId, nodeId, name; policy

-- As Redis itself compares them before a script without the flag.
local function memory_is_short()
  local info = redis.pcall('INFO', 'memory')
  if type(info) ~= 'string' then
    return false
  end
  local function figure(name)
    return tonumber(string.match(info, '\n' .. name .. ':(%d+)') or '0')
  end
  local max = figure('maxmemory')
  return max > 0 and figure('used_memory') - figure('mem_not_counted_for_evict') > max
end

local before = load_record()
if not before and memory_is_short() then
  return redis.error_reply('OOM a user without a record cannot arrive')
end
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
