-- The queues of one endpoint as they are kept. What the scripts of its deliveries share.
--
-- KEYS[1]  state  hash: cursor, ordinal, tickets, burials, pending, dropped, lost, lastReason, lastFailedAt, lastDeliveredAt
-- KEYS[2]  due    zset, lane -> when its head is tried, or its lease ends; has every lane that is not empty
-- KEYS[3]  heads  hash, lane -> what is known of its head as JSON: ticket (missing when nobody has it), failures
-- KEYS[4]  dead   zset, event id -> number of its burial
-- KEYS[5]  graves hash, event id -> JSON with attempts, reason, at; a line feed; the event
--
-- ARGV[1]  lanes (what a lane's name is put behind: the key of its list), forgottenAfterMs
--
-- An item of a list is the instant at which it was queued, a space, and the event. The lists are built from
-- command.lanes: undeclared, as the lanes are found on the way.

local STATE, DUE, HEADS, DEAD, GRAVES = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local NO_ROOM = '-'

local function list_of(lane)
  return command.lanes .. lane
end

-- Nothing is waited for of an endpoint that nobody asks for any more: only then does this expire.
local function keep(key)
  redis.call('PEXPIRE', key, command.forgottenAfterMs)
end

-- What is needed of an event stands at its beginning, as the scripts of rooms write it. It is not decoded: an opaque body
-- may hold what cjson refuses, and one such event would stop all that come after it. Nil for what no script has written.
local function head_in(text)
  local id, kind, ref = string.match(text, '^{"id":"([^"]+)","type":"([%a_]+)","code":[^,]+,"ref":([^,]+),')
  return id and { id = id, type = kind, lane = string.match(ref, '^"(.+)"$') or NO_ROOM }
end

local coming = { order = {}, items = {} }

-- Puts an event behind what waits of its room; `queue` writes.
local function enqueue(lane, text)
  if not coming.items[lane] then
    coming.order[#coming.order + 1] = lane
    coming.items[lane] = {}
  end
  local items = coming.items[lane]
  items[#items + 1] = string.format('%.0f', now) .. ' ' .. text
end

-- Writes what was put there: once for each room, as that is half of what it costs.
local function queue()
  local count = 0
  for _, lane in ipairs(coming.order) do
    local items = coming.items[lane]
    redis.call('RPUSH', list_of(lane), unpack(items))
    keep(list_of(lane))
    -- A lane that waits for its turn, or whose head is taken, goes on waiting.
    redis.call('ZADD', DUE, 'NX', now, lane)
    count = count + #items
  end
  if count > 0 then
    redis.call('HINCRBY', STATE, 'pending', count)
    keep(DUE)
  end
end

-- The head of a lane: the instant at which it was queued, its text, its id; nil when the lane is empty.
local function head_of(lane)
  local item = redis.call('LINDEX', list_of(lane), 0)
  if not item then
    return nil
  end
  local since, text = string.match(item, '^(%d+) (.*)$')
  return tonumber(since), text, head_in(text).id
end

local function known_of(lane)
  local kept = redis.call('HGET', HEADS, lane)
  return kept and cjson.decode(kept) or { failures = 0 }
end

local function drop_lane(lane)
  redis.call('ZREM', DUE, lane)
  redis.call('HDEL', HEADS, lane)
end

-- Takes the head of a lane, and answers with it as JSON; nil when the lane is empty.
local function take_head(lane, lease_ms)
  local _, text, id = head_of(lane)
  if not text then
    drop_lane(lane)
    return nil
  end
  local known = known_of(lane)
  known.ticket = redis.call('HINCRBY', STATE, 'tickets', 1)
  redis.call('HSET', HEADS, lane, cjson.encode(known))
  keep(HEADS)
  redis.call('ZADD', DUE, now + lease_ms, lane)
  keep(list_of(lane))
  return cjson.encode({ lane = lane, eventId = id, body = text, failures = known.failures, ticket = known.ticket })
end
