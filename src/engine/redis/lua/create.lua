#!lua
-- Takes a free code and creates a room: with its host as first member, or empty when the command names no host.
--
-- KEYS[1..6]  taken, leases, due, cooling, meta of the shard, and the feed, see room.lua
-- KEYS[7]     idempotency: string, the room of the first create with this key; only when the command has a key
-- ARGV[1]     idempotencyKey (missing for none), candidates, searchFrom, shard, ref, by (missing for none), settings; policy, pool, keyPrefixes
-- ARGV[2]     the host's metadata, opaque; '' for none
-- ARGV[3]     the room's metadata, opaque; '' for none

local IDEMPOTENCY = command.idempotencyKey and KEYS[7]

local function replayed()
  local stored = IDEMPOTENCY and redis.call('GET', IDEMPOTENCY)
  local record = stored and cjson.decode(stored)
  if record and record.untilAt > now then
    return cjson.encode({ ok = false, reason = 'REPLAYED', code = record.code, ref = record.ref })
  end
end

-- untilAt alone decides whether the record counts. Redis' own expiry, a minute later, only removes the garbage.
local function save_idempotency_record(code)
  if IDEMPOTENCY then
    local record = { code = code, ref = command.ref, untilAt = now + policy.idempotencyMs }
    redis.call('SET', IDEMPOTENCY, cjson.encode(record), 'PX', policy.idempotencyMs + 60000)
  end
end

local replay = replayed()
if replay then
  return replay
end

local code = allocate()
if not code then
  return cjson.encode({ ok = false, reason = 'FULL', nextFreeInMs = next_free_in() })
end

local by = command.by
local host_id = by and by.userId
local room = {
  code = code,
  key = command.keyPrefixes.room .. code,
  members = command.keyPrefixes.members .. code,
  stored = {},
  ref = command.ref,
  rev = 0,
  locked = false,
  hostId = host_id,
  createdBy = host_id,
  epoch = epoch,
  createdAt = now,
  expiresAt = now + policy.maxAgeMs,
  lastActive = now,
  emptySince = now,
  nextSeq = 1,
  metadata = opaque(ARGV[3]),
}
for field, value in pairs(command.settings) do
  room[field] = value
end
append_created(room)
if by then
  -- The joining of the host is the first revision. It goes into the feed only: there are no other members to be told.
  local seat = new_seat(room, by, opaque(ARGV[2]))
  room.rev = 1
  append_feed_event(room, 'member:joined', { seat = seat, hostId = host_id })
end
save_room(room)
save_idempotency_record(code)
-- The caller computes the rest of the room from its command: to encode it here would take longer than to store it.
return '{"ok":true,"code":"' .. code .. '","now":' .. string.format('%.0f', now) .. '}'
