#!lua
-- Takes a free code and opens a room, with its host as first member; or an empty one, when nobody is to be its host.
--
-- KEYS[1..5]  taken, leases, due, cooling of the shard, and the feed, see room.lua
-- KEYS[6]     receipt: what this create has made before; missing when the command has no receipt
-- ARGV[1]     candidates, from, shard, ref, by (missing for none), settings; policy, pool, stems
-- ARGV[2]     the host's metadata, opaque; '' for none
-- ARGV[3]     the room's metadata, opaque; '' for none

local function replayed()
  local kept = KEYS[6] and redis.call('GET', KEYS[6])
  local receipt = kept and cjson.decode(kept)
  if receipt and receipt.untilAt > now then
    return cjson.encode({ ok = false, reason = 'REPLAYED', code = receipt.code, ref = receipt.ref })
  end
end

-- The garbage goes a minute after the receipt has lost its meaning: meaning never hangs on the expiry.
local function keep_receipt(code)
  if KEYS[6] then
    local receipt = { code = code, ref = command.ref, untilAt = now + policy.receiptMs }
    redis.call('SET', KEYS[6], cjson.encode(receipt), 'PX', policy.receiptMs + 60000)
  end
end

local function code_at(index)
  return string.format('%.0f', command.pool.least + index * command.pool.shards + command.shard)
end

-- The first 0 of the bitmap from an index on, round the end once. Redis goes through it a word at a time, so the cost
-- does not grow with the fill.
local function scan(from)
  local last = command.pool.perShard - 1
  local index = redis.call('BITPOS', TAKEN, 0, from, last, 'BIT')
  if index < 0 and from > 0 then
    index = redis.call('BITPOS', TAKEN, 0, 0, from - 1, 'BIT')
  end
  return index
end

-- A candidate, else any free code, else the one that has cooled longest without having been swept up yet; and marks it.
local function allocate()
  for _, code in ipairs(command.candidates) do
    if redis.call('SETBIT', TAKEN, index_of(code), 1) == 0 then
      return code
    end
  end
  -- BITPOS finds no 0 behind the end of a string.
  if redis.call('STRLEN', TAKEN) * 8 < command.pool.perShard then
    redis.call('SETBIT', TAKEN, command.pool.perShard - 1, 0)
  end
  local index = scan(command.from % command.pool.perShard)
  if index >= 0 then
    redis.call('SETBIT', TAKEN, index, 1)
    return code_at(index)
  end
  local cooled = redis.call('ZRANGEBYSCORE', COOLING, '-inf', now, 'LIMIT', 0, 1)[1]
  if cooled then
    redis.call('ZREM', COOLING, cooled)
  end
  return cooled
end

local again = replayed()
if again then
  return again
end

local code = allocate()
if not code then
  return cjson.encode({ ok = false, reason = 'FULL', freesInMs = frees_in() })
end

local settings, by = command.settings, command.by
local host_id = by and by.userId
local room = {
  code = code,
  key = command.stems.room .. code,
  members = command.stems.members .. code,
  stored = {},
  ref = command.ref,
  rev = 0,
  name = settings.name,
  type = settings.type,
  maxUsers = settings.maxUsers,
  access = settings.access,
  locked = settings.locked or false,
  hostId = host_id,
  createdBy = host_id,
  createdAt = now,
  expiresAt = now + policy.maxAgeMs,
  lastActive = now,
  emptySince = now,
  nextSeq = 1,
  metadata = opaque(ARGV[3]),
}
publish_created(room)
if by then
  -- Its host's arrival is the first change. No member is there yet to be told of it: the reply is the first that anyone
  -- hears of the room.
  local seat = take_seat(room, by, opaque(ARGV[2]))
  room.rev = 1
  publish(room, 'member:joined', { seat = seat, hostId = host_id })
end
settle(room)
keep_receipt(code)
-- The rest of the room follows from the command, which the caller has: to tell it would take longer than to write it.
return '{"ok":true,"code":"' .. code .. '","now":' .. string.format('%.0f', now) .. '}'
