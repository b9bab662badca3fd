-- A shard as it is kept: its rooms, their seats, its codes. What the scripts of a shard share.
--
-- KEYS[1]  taken    bitmap, 1 = the code of that index is occupied or cooling
-- KEYS[2]  leases   zset, '<code> <userId>' -> the end of that seat's lease
-- KEYS[3]  due      zset, code -> when the room ends unless something happens; has every occupied code
-- KEYS[4]  cooling  zset, code -> until when it may not be handed out
-- KEYS[5]  feed     stream, see feed.lua
--
-- ARGV[1]  pool { perShard, least (the smallest code), shards }, stems { room, members } of keys; where they are used
--
-- The keys of a room and of its members are declared by the scripts that know the code beforehand. create and tick
-- find theirs on the way and build them from command.stems: undeclared, but in the slot of the declared ones, which
-- Redis accepts of a script with a shebang (and refuses for any other slot).

local TAKEN, LEASES, DUE, COOLING, FEED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]

-- A field that is not there is null.
local FIELDS = {
  'ref', 'rev', 'name', 'type', 'maxUsers', 'access', 'locked', 'hostId', 'createdBy', 'createdAt', 'expiresAt',
  'lastActive', 'emptySince', 'nextSeq', 'metadata', 'banned',
}
local NUMBERS = {
  rev = true, maxUsers = true, createdAt = true, expiresAt = true, lastActive = true, emptySince = true, nextSeq = true,
}

local function load_room(code, key, members)
  local kept = redis.call('HMGET', key, unpack(FIELDS))
  if not kept[1] then
    return nil
  end
  local room = { code = code, key = key, members = members, stored = {} }
  for index, field in ipairs(FIELDS) do
    local value = kept[index] or nil
    if value and NUMBERS[field] then
      value = tonumber(value)
    elseif field == 'locked' then
      value = value == '1'
    end
    room[field], room.stored[field] = value, value
  end
  return room
end

local function load_by_stem(code)
  return load_room(code, command.stems.room .. code, command.stems.members .. code)
end

-- When the room ends unless something happens, and why.
local function deadline(room)
  local at, reason = room.expiresAt, 'aged'
  if room.lastActive + policy.idleMs < at then
    at, reason = room.lastActive + policy.idleMs, 'idle'
  end
  if room.emptySince and room.emptySince + policy.emptyMs < at then
    at, reason = room.emptySince + policy.emptyMs, 'empty'
  end
  return at, reason
end

-- A released code stays taken until it has cooled.
local function release(code)
  redis.call('ZREM', DUE, code)
  redis.call('ZADD', COOLING, now + policy.cooldownMs, code)
end

-- Writes what has changed. A room that has ended frees its code into cooling, in the same step.
local function settle(room)
  if room.ended then
    redis.call('DEL', room.key, room.members)
    return release(room.code)
  end
  local changed, gone = {}, {}
  for _, field in ipairs(FIELDS) do
    local value = room[field]
    if value == nil and room.stored[field] ~= nil then
      gone[#gone + 1] = field
    elseif value ~= room.stored[field] then
      if field == 'locked' then
        value = value and '1' or '0'
      end
      changed[#changed + 1] = field
      changed[#changed + 1] = value
    end
  end
  if #changed > 0 then
    redis.call('HSET', room.key, unpack(changed))
  end
  if #gone > 0 then
    redis.call('HDEL', room.key, unpack(gone))
  end
  redis.call('ZADD', DUE, (deadline(room)), room.code)
end

local function seat_of(room, user_id)
  local text = redis.call('HGET', room.members, user_id)
  return text and cjson.decode(text) or nil
end

-- Ids hold no spaces, so the list of the banned is text with spaces between.
local function is_banned(room, user_id)
  return string.find(' ' .. (room.banned or '') .. ' ', ' ' .. user_id .. ' ', 1, true)
end

local function why_not_join(room, user_id)
  if is_banned(room, user_id) then
    return 'BANNED'
  end
  -- Who has a seat already may always come back to it, into a full or locked room too.
  if redis.call('HEXISTS', room.members, user_id) == 1 then
    return nil
  end
  if room.locked then
    return 'ROOM_LOCKED'
  end
  if redis.call('HLEN', room.members) >= room.maxUsers then
    return 'ROOM_FULL'
  end
end

-- In the order of joining.
local function seats_of(room)
  local seats = {}
  for index, text in ipairs(redis.call('HVALS', room.members)) do
    seats[index] = cjson.decode(text)
  end
  table.sort(seats, function(a, b)
    return a.seq < b.seq
  end)
  return seats
end

local function put_seat(room, seat)
  redis.call('HSET', room.members, seat.userId, cjson.encode(seat))
  redis.call('ZADD', LEASES, seat.leaseUntil, room.code .. ' ' .. seat.userId)
end

local function remove_seat(room, seat)
  redis.call('HDEL', room.members, seat.userId)
  redis.call('ZREM', LEASES, room.code .. ' ' .. seat.userId)
end

-- The seat that the key names, whichever session holds it; or nil and why not.
local function locate_seat(room, key)
  if not room or room.ref ~= key.ref then
    return nil, 'CODE_EXPIRED'
  end
  local seat = seat_of(room, key.userId)
  if not seat then
    return nil, 'NOT_IN_ROOM'
  end
  return seat
end

-- The seat that the key's session holds.
local function locate(room, key)
  local seat, reason = locate_seat(room, key)
  if seat and seat.session ~= key.session then
    return nil, 'SESSION_EXPIRED'
  end
  return seat, reason
end

-- Whether the key's holder may change the room as a whole: its host from its seat, or the owner; or nil and why not.
local function govern(room, key)
  if key.owner then
    if room and room.ref == key.ref then
      return true
    end
    return nil, 'CODE_EXPIRED'
  end
  local seat, reason = locate(room, key)
  if not seat then
    return nil, reason
  end
  if room.hostId ~= key.userId then
    return nil, 'FORBIDDEN'
  end
  return true
end

-- What a room says of itself, apart from its seats.
local function view(room)
  local seen = { code = room.code }
  for _, field in ipairs(FIELDS) do
    seen[field] = room[field]
  end
  return seen
end

-- Milliseconds until the next code has cooled; null when none is cooling.
local function frees_in()
  local first = redis.call('ZRANGE', COOLING, 0, 0, 'WITHSCORES')
  return first[2] and math.max(0, tonumber(first[2]) - now) or cjson.null
end

local function index_of(code)
  return math.floor((tonumber(code) - command.pool.least) / command.pool.shards)
end

local function figures()
  return { occupied = redis.call('ZCARD', DUE), cooling = redis.call('ZCARD', COOLING), freesInMs = frees_in() }
end
