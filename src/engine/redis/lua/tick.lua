#!lua flags=allow-oom
-- Renews the seats whose connections the asking node holds, then reaps expired leases, then rooms that are empty, idle or
-- aged, then codes that have cooled; at most command.limit of each. Nothing is reaped while the shard recovers.
--
-- KEYS[1..6]  taken, leases, due, cooling, meta of the shard, and the feed, see room.lua
-- ARGV[1]     held (a list of code, ref, userId, session), limit, rooms (a list of code, ref, rev), sole, restored (by,
--             connected), knownEpoch, everyMs; policy, pool, keyPrefixes

local lost, order, named = {}, {}, {}

local function renew_held()
  for index, key in ipairs(command.held) do
    local room = load_by_code(key.code)
    local seat = find_seat(room, key)
    if seat then
      renew_seat(room, seat)
      if room.epoch ~= room.stored.epoch then
        save_room(room)
      end
    else
      lost[#lost + 1] = index - 1
    end
    if not named[key.code] then
      order[#order + 1] = key.code
    end
    named[key.code] = key
  end
end

-- Calls reap_one for each due entry of a sorted set, in the order of their deadlines. Returns whether some were left.
local function reap(zset, reap_one)
  local due = redis.call('ZRANGEBYSCORE', zset, '-inf', now, 'LIMIT', 0, command.limit + 1)
  for index = 1, math.min(#due, command.limit) do
    reap_one(due[index])
  end
  return #due > command.limit
end

local function reap_seat(lease)
  local code, user_id = string.match(lease, '^(%d+) (.+)$')
  local room = load_by_code(code)
  local seat = room and seat_of(room, user_id)
  if seat then
    remove_seat(room, seat, 'lost')
    return save_room(room)
  end
  -- The room has ended earlier in this tick. Its lease must go, else every later tick would find it again.
  redis.call('ZREM', LEASES, lease)
end

local function reap_room(code)
  local room = load_by_code(code)
  if not room then
    return release(code)
  end
  local at, reason = deadline(room)
  -- The deadline was written by a node with a shorter policy.
  if at > now then
    redis.call('ZADD', DUE, at, code)
    return
  end
  end_room(room, reason)
  save_room(room)
end

local function free_code(code)
  redis.call('ZREM', COOLING, code)
  redis.call('SETBIT', TAKEN, index_of(code), 0)
end

-- When nobody has ticked the shard for long, members could not renew their leases: they get the time of one to do so.
-- Returns the instant before which leases and rooms are not reaped.
local function note_tick()
  local ticked_at = tonumber(redis.call('HGET', META, 'tickedAt') or now)
  redis.call('HSET', META, 'tickedAt', now)
  if now - ticked_at > 2 * command.everyMs then
    redis.call('HSET', META, 'noReapBefore', now + policy.leaseMs)
    return now + policy.leaseMs
  end
  return tonumber(redis.call('HGET', META, 'noReapBefore') or 0)
end

local function recover_for(ms)
  recovering_ms = ms
  redis.call('HSET', META, 'recoverUntil', now + ms)
end

-- Notes that this node has restored what it holds. Returns whether all connected nodes have.
local function all_have_restored()
  local nodes = redis.call('HGET', META, 'restored') or ' '
  if not holds(nodes, command.restored.by) then
    nodes = nodes .. command.restored.by .. ' '
    redis.call('HSET', META, 'restored', nodes)
  end
  for _, node in ipairs(command.restored.connected) do
    if not holds(nodes, node) then
      return false
    end
  end
  return true
end

-- Who is alone, and holds nothing that is missing, need not wait. Otherwise all connected nodes are waited for, and one that
-- comes late after all.
local function end_recovery()
  if recovering_ms == 0 then
    return
  end
  if command.sole and #lost == 0 then
    return recover_for(0)
  end
  local since = tonumber(redis.call('HGET', META, 'since'))
  if behind then
    recover_for(since + policy.recoveryMs - now)
  elseif command.knownEpoch and command.restored and all_have_restored() then
    recover_for(math.min(recovering_ms, math.max(0, since + RECONNECTED_MS - now)))
  end
end

-- A present seat that has not been renewed in this epoch belongs to nobody, or to a node that is away: it is kept for the
-- grace.
local function cut_unconfirmed()
  local kept_until, since = now + policy.graceMs, tonumber(redis.call('HGET', META, 'since'))
  local leases = redis.call('ZRANGEBYSCORE', LEASES, '(' .. kept_until, '(' .. since + policy.leaseMs)
  for _, lease in ipairs(leases) do
    local code, user_id = string.match(lease, '^(%d+) (.+)$')
    local room = load_by_code(code)
    local seat = room and seat_of(room, user_id)
    if seat and seat.state == 'present' then
      seat.leaseUntil = kept_until
      write_seat(room, seat)
      save_room(room)
    end
  end
end

-- A host that nobody has restored is succeeded.
local function replace_missing_hosts()
  local codes = redis.call('ZRANGE', DUE, 0, -1)
  table.sort(codes)
  for _, code in ipairs(codes) do
    local room = load_by_code(code)
    if room and room.hostId and redis.call('HEXISTS', room.members, room.hostId) == 0 then
      hand_on_host(room)
      save_room(room)
    end
  end
end

-- Once, when the shard has recovered.
local function settle()
  if redis.call('HSETNX', META, 'settled', '1') == 1 then
    cut_unconfirmed()
    replace_missing_hosts()
  end
end

local rev_of = {}

local function revs()
  local items = {}
  for _, code in ipairs(order) do
    local key = named[code]
    local ref, rev, of = unpack(redis.call('HMGET', command.keyPrefixes.room .. code, 'ref', 'rev', 'epoch'))
    if ref == key.ref then
      rev_of[code] = tonumber(of) == epoch and tonumber(rev) or leaped(tonumber(rev), tonumber(of or epoch))
      local seats = redis.call('HLEN', command.keyPrefixes.members .. code)
      items[#items + 1] = cjson.encode({ code = code, ref = key.ref, rev = rev_of[code], seats = seats })
    end
  end
  return list(items)
end

-- The rooms whose copies are behind.
local function infos()
  local items = {}
  for _, copy in ipairs(command.rooms) do
    if (rev_of[copy.code] or 0) > copy.rev then
      items[#items + 1] = cjson.encode(fields_of(load_by_code(copy.code)))
    end
  end
  return list(items)
end

renew_held()
local no_reap_before = note_tick()
end_recovery()
local more = false
if recovering_ms == 0 then
  settle()
  if now >= no_reap_before then
    more = reap(LEASES, reap_seat)
    more = reap(DUE, reap_room) or more
  end
  more = reap(COOLING, free_code) or more
end
if recovering_ms > 0 or behind then
  lost = {}
end
return '{"ok":true,"life":"' .. life
  .. '","events":' .. list(events)
  .. ',"evicted":' .. list(evicted)
  .. ',"lost":' .. list(lost)
  .. ',"revs":' .. revs()
  .. ',"epoch":' .. string.format('%.0f', epoch)
  .. ',"recoveringMs":' .. string.format('%.0f', recovering_ms)
  .. ',"infos":' .. (recovering_ms == 0 and infos() or '[]')
  .. ',"more":' .. tostring(more)
  .. ',"poolStats":' .. cjson.encode(pool_stats()) .. '}'
