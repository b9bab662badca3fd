#!lua flags=allow-oom
-- A node restores a room of an earlier epoch from its copy: creates it again, or merges into what is there.
--
-- KEYS[1..6]  taken, leases, due, cooling, meta of the shard, and the feed, see room.lua
-- KEYS[7]     room: hash of the room, under the code that the node knows
-- KEYS[8]     members: hash, userId -> seat as JSON
-- ARGV[1]     code, ref, sinceEpoch, room (the copy; bans as one string), seats, candidates, searchFrom, maxBans; policy,
--             pool, shard, keyPrefixes

local copy = command.room
local copy_rev = leaped(copy.rev, command.sinceEpoch)

-- What a copy does not have, and what is merged.
local NOT_SETTINGS = {
  ref = true,
  rev = true,
  lastActive = true,
  emptySince = true,
  nextSeq = true,
  banned = true,
  epoch = true,
  leapedTo = true,
}

local function take_settings(room)
  for _, field in ipairs(FIELDS) do
    if not NOT_SETTINGS[field] then
      room[field] = copy[field]
    end
  end
  room.leapedTo = copy_rev
end

local function from_copy(code)
  local key, members = command.keyPrefixes.room .. code, command.keyPrefixes.members .. code
  local room = { code = code, key = key, members = members, stored = {} }
  take_settings(room)
  room.ref, room.rev, room.epoch = command.ref, copy_rev, epoch
  room.nextSeq, room.banned = copy.nextSeq + SEQ_LEAP, copy.banned
  room.lastActive, room.emptySince = now, now
  return room
end

-- Its own code unless another room has it, even if it is said to cool: that is from before this room.
local function take_code()
  if redis.call('ZSCORE', DUE, command.code) then
    local code = allocate()
    if code then
      remember(command.ref, code)
    end
    return code
  end
  redis.call('SETBIT', TAKEN, index_of(command.code), 1)
  redis.call('ZREM', COOLING, command.code)
  return command.code
end

-- Returns whether there are more bans now.
local function unite_bans(room)
  local banned, before = {}, 0
  for user_id in string.gmatch(room.banned or '', '%S+') do
    banned[#banned + 1] = user_id
  end
  before = #banned
  for user_id in string.gmatch(copy.banned or '', '%S+') do
    if not is_banned(room, user_id) then
      banned[#banned + 1] = user_id
    end
  end
  local first = math.max(1, #banned - command.maxBans + 1)
  if #banned > 0 then
    room.banned = table.concat(banned, ' ', first)
  end
  return #banned - first + 1 > before
end

local function is_another(stored, seat)
  for _, field in ipairs({ 'session', 'state', 'seq', 'name', 'mediaType', 'metadata' }) do
    if stored[field] ~= seat[field] then
      return true
    end
  end
  return false
end

-- The place of the seat in the order of joining stays, unless another member has it by now.
local function put_seat(room, seat)
  for _, other in ipairs(seats_of(room)) do
    if other.userId ~= seat.userId and other.seq == seat.seq then
      seat.seq = room.nextSeq
      break
    end
  end
  room.nextSeq = math.max(room.nextSeq, seat.seq + 1)
  seat.leaseUntil = now + (seat.state == 'present' and policy.leaseMs or policy.graceMs)
  write_seat(room, seat)
end

-- Returns whether somebody sits there who did not, or sits differently.
local function put_seats(room)
  local changed = false
  for _, seat in ipairs(command.seats) do
    local stored = seat_of(room, seat.userId)
    local later = stored and stored.session > seat.session
    if not later and not is_banned(room, seat.userId) then
      changed = changed or not stored or is_another(stored, seat)
      put_seat(room, seat)
    end
  end
  return changed
end

-- Whatever this changes, the revision grows beyond all that are known: nobody has had that state yet.
local function merge(room)
  local newer = room.leapedTo and copy_rev > room.leapedTo
  if newer then
    take_settings(room)
  end
  local more_bans = unite_bans(room)
  room.nextSeq = math.max(room.nextSeq, copy.nextSeq)
  local changed = put_seats(room)
  local first = seats_of(room)[1]
  -- A host that no node has restored yet stays the host until the shard has recovered.
  room.hostId = room.hostId or first and first.userId
  room.emptySince = not first and (room.emptySince or now) or nil
  if newer or more_bans or changed then
    room.rev = math.max(room.rev, copy_rev) + 1
  end
  save_room(room)
  -- A host may be missing.
  redis.call('HDEL', META, 'settled')
  return reply_snapshot(room)
end

local moved_to = redis.call('HGET', MOVED, command.ref)
local since = tonumber(redis.call('HGET', META, 'since'))
local over = copy.expiresAt <= now or moved_to == ''
if command.sinceEpoch == epoch or since + policy.leaseMs < now or over then
  return refuse_for_good('CODE_EXPIRED')
end
local there = load_by_code(moved_to or command.code)
if there and there.ref == command.ref then
  return merge(there)
end
local code = take_code()
if not code then
  return refuse_for_good('POOL_EXHAUSTED')
end
return merge(from_copy(code))
