-- The state of a shard in Redis: its rooms, their seats, its codes. Shared by the scripts of the shard commands.
--
-- KEYS[1]  taken    bitmap, 1 = the code of that index is occupied or cooling
-- KEYS[2]  leases   zset, '<code> <userId>' -> the end of that seat's lease
-- KEYS[3]  due      zset, code -> deadline of the room; holds every occupied code
-- KEYS[4]  cooling  zset, code -> until when it may not be used again
-- KEYS[5]  meta     hash, see epoch.lua
-- KEYS[6]  feed     stream, see feed.lua
--
-- ARGV[1]  policy, see Policy in room.ts; for scripts that find codes by themselves also
--          pool { perShard, minCode, shards } and keyPrefixes { room, members }
--
-- Scripts whose command names a code declare the keys of that room and of its members. create, list and tick learn the codes
-- while they run, and build the keys from command.keyPrefixes. These keys are undeclared, but in the slot of the declared
-- ones: Redis accepts that from a script with a shebang, and refuses keys of any other slot.
--
-- FIELDS, NUMBERS and BOOLEANS, the fields of a room's hash, are generated: see fields.ts. Null is stored by leaving out
-- the field.

local TAKEN, LEASES, DUE, COOLING, FEED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[6]

local function load_room(code, key, members)
  local stored = redis.call('HMGET', key, unpack(FIELDS))
  if not stored[1] then
    return nil
  end
  local room = { code = code, key = key, members = members, stored = {} }
  for index, field in ipairs(FIELDS) do
    local value = stored[index] or nil
    if value and NUMBERS[field] then
      value = tonumber(value)
    elseif BOOLEANS[field] then
      value = value == '1'
    end
    room[field], room.stored[field] = value, value
  end
  leap(room)
  return room
end

-- The room that has a code now, and no later one than the wanted ref, if there is one; or nil and the reason.
local function find_room(wanted, key, members)
  local room = load_room(wanted.code, key, members)
  if wanted.ref and (not room or room.ref ~= wanted.ref) then
    return nil, 'CODE_EXPIRED'
  end
  return room, 'ROOM_NOT_FOUND'
end

local function load_by_code(code)
  return load_room(code, command.keyPrefixes.room .. code, command.keyPrefixes.members .. code)
end

-- The instant at which the room ends unless it is used before, and the reason.
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

-- A released code stays marked as taken until it has cooled.
local function release(code)
  redis.call('ZREM', DUE, code)
  redis.call('ZADD', COOLING, now + policy.cooldownMs, code)
end

-- Writes the changed fields. The code of a room that has ended begins to cool, in the same step.
local function save_room(room)
  if room.ended then
    redis.call('DEL', room.key, room.members)
    remember_ended(room)
    return release(room.code)
  end
  local changed, gone = {}, {}
  for _, field in ipairs(FIELDS) do
    local value = room[field]
    if value == nil and room.stored[field] ~= nil then
      gone[#gone + 1] = field
    elseif value ~= room.stored[field] then
      if BOOLEANS[field] then
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

-- The list of banned users is one string with spaces between: ids hold none.
local function is_banned(room, user_id)
  return string.find(' ' .. (room.banned or '') .. ' ', ' ' .. user_id .. ' ', 1, true)
end

local function join_refusal(room, user_id)
  if is_banned(room, user_id) then
    return 'BANNED'
  end
  -- A user that has a seat may always come back to it, even when the room is full or locked.
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

-- The seats of a room in the order of joining.
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

local function write_seat(room, seat)
  redis.call('HSET', room.members, seat.userId, cjson.encode(seat))
  redis.call('ZADD', LEASES, seat.leaseUntil, room.code .. ' ' .. seat.userId)
end

local function delete_seat(room, seat)
  redis.call('HDEL', room.members, seat.userId)
  redis.call('ZREM', LEASES, room.code .. ' ' .. seat.userId)
end

-- The seat of the key's user, whatever its session; or nil and the reason of the refusal.
local function find_seat_of_any_session(room, key)
  if not room or room.ref ~= key.ref then
    return nil, 'CODE_EXPIRED'
  end
  local seat = seat_of(room, key.userId)
  if not seat then
    return nil, 'NOT_IN_ROOM'
  end
  return seat
end

-- The seat that the key's session has; or nil and the reason.
local function find_seat(room, key)
  local seat, reason = find_seat_of_any_session(room, key)
  if seat and seat.session ~= key.session then
    return nil, 'SESSION_EXPIRED'
  end
  return seat, reason
end

-- Whether the sender of the key may change the room as a whole, as its host or as the owner; or nil and the reason.
local function authorize(room, key)
  if key.owner then
    if room and room.ref == key.ref then
      return true
    end
    return nil, 'CODE_EXPIRED'
  end
  local seat, reason = find_seat(room, key)
  if not seat then
    return nil, reason
  end
  if room.hostId ~= key.userId then
    return nil, 'FORBIDDEN'
  end
  return true
end

-- The fields of a room, without its seats, as a table for cjson.
local function fields_of(room)
  local fields = { code = room.code }
  for _, field in ipairs(FIELDS) do
    fields[field] = room[field]
  end
  return fields
end

-- Milliseconds until the next code has cooled; null when none is cooling.
local function next_free_in()
  local first = redis.call('ZRANGE', COOLING, 0, 0, 'WITHSCORES')
  return first[2] and math.max(0, tonumber(first[2]) - now) or cjson.null
end

local function index_of(code)
  return math.floor((tonumber(code) - command.pool.minCode) / command.pool.shards)
end

local function pool_stats()
  return { occupied = redis.call('ZCARD', DUE), cooling = redis.call('ZCARD', COOLING), nextFreeInMs = next_free_in() }
end
