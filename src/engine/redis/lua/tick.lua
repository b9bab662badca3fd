#!lua flags=allow-oom
-- Renews the seats whose connections the asking node holds, then reaps expired leases, then rooms that are empty, idle or
-- aged, then codes that have cooled; at most command.limit of each.
--
-- KEYS[1..5]  taken, leases, due, cooling of the shard, and the feed, see room.lua
-- ARGV[1]     held (a list of code, ref, userId, session), limit; policy, pool, keyPrefixes

local lost, order, named = {}, {}, {}

local function renew_held()
  for index, key in ipairs(command.held) do
    local room = load_by_code(key.code)
    local seat = find_seat(room, key)
    if seat then
      renew_seat(room, seat)
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

local function revs()
  local items = {}
  for _, code in ipairs(order) do
    local key = named[code]
    local kept = redis.call('HMGET', command.keyPrefixes.room .. code, 'ref', 'rev')
    if kept[1] == key.ref then
      local seats = redis.call('HLEN', command.keyPrefixes.members .. code)
      items[#items + 1] = cjson.encode({ code = code, ref = key.ref, rev = tonumber(kept[2]), seats = seats })
    end
  end
  return list(items)
end

renew_held()
local more_leases = reap(LEASES, reap_seat)
local more_rooms = reap(DUE, reap_room)
local more_codes = reap(COOLING, free_code)
local more = tostring(more_leases or more_rooms or more_codes)
return '{"ok":true,"events":' .. list(events)
  .. ',"evicted":' .. list(evicted)
  .. ',"lost":' .. list(lost)
  .. ',"revs":' .. revs()
  .. ',"more":' .. more
  .. ',"poolStats":' .. cjson.encode(pool_stats()) .. '}'
