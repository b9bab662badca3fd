-- The queues of one endpoint as they are stored: shared by the scripts of the webhook queue.
--
-- KEYS[1]  state   hash: cursor and ordinal (the last event that was read from the stream, and how many were written up to
--                  it), tickets (claim sequence: the last claim token), burials (dead sequence: that of the last dead letter), pending,
--                  dropped, lost, lastReason, lastFailedAt, lastDeliveredAt
-- KEYS[2]  due     zset, room queue -> when its head is tried, or its lease ends; has every room queue that is not empty
-- KEYS[3]  heads   hash, room queue -> attempts of its head, as JSON: ticket (the claim token; missing when the head is not
--                  claimed), failures
-- KEYS[4]  dead    zset, event id -> sequence number of the dead letter
-- KEYS[5]  graves  hash of the dead letters, event id -> attempts as JSON (attempts, reason, at), a line feed, the event
--
-- ARGV[1]  roomQueueKey (a room queue is the list at this key with the queue's name appended), unusedTtlMs
--
-- An item of a list is the instant at which it was queued, a space, and the event. The keys of the lists are built from
-- command.roomQueueKey: undeclared, because the queues are found on the way.

local STATE, DUE, HEADS, DEAD, DEAD_LETTERS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local NO_ROOM = '-'

local function list_of(room_queue)
  return command.roomQueueKey .. room_queue
end

-- Only the keys of an endpoint that no node claims for expire; each claim renews them.
local function renew_expiry(key)
  redis.call('PEXPIRE', key, command.unusedTtlMs)
end

-- The head of an event's text, as the scripts of rooms write it. The event is not decoded: an opaque body may contain what
-- cjson refuses, and one such event would block all later ones. Nil for text that no script has written.
local function parse_head(text)
  local id, kind, ref = string.match(text, '^{"id":"([^"]+)","type":"([%a_]+)","code":[^,]+,"ref":([^,]+),')
  return id and { id = id, type = kind, room_queue = string.match(ref, '^"(.+)"$') or NO_ROOM }
end

local appended = { order = {}, items = {} }

-- Collects an event for the end of its room's queue; `flush` writes.
local function append(room_queue, text)
  if not appended.items[room_queue] then
    appended.order[#appended.order + 1] = room_queue
    appended.items[room_queue] = {}
  end
  local items = appended.items[room_queue]
  items[#items + 1] = string.format('%.0f', now) .. ' ' .. text
end

-- Writes what was collected: once for each room, which halves the cost.
local function flush()
  local count = 0
  for _, room_queue in ipairs(appended.order) do
    local items = appended.items[room_queue]
    redis.call('RPUSH', list_of(room_queue), unpack(items))
    renew_expiry(list_of(room_queue))
    -- NX: a queue whose head is claimed, or waits for its next attempt, keeps its due time.
    redis.call('ZADD', DUE, 'NX', now, room_queue)
    count = count + #items
  end
  if count > 0 then
    redis.call('HINCRBY', STATE, 'pending', count)
    renew_expiry(DUE)
  end
end

-- The head of a room queue: the instant at which it was queued, its text, its id; nil when the queue is empty.
local function head_of(room_queue)
  local item = redis.call('LINDEX', list_of(room_queue), 0)
  if not item then
    return nil
  end
  local queued_at, text = string.match(item, '^(%d+) (.*)$')
  return tonumber(queued_at), text, parse_head(text).id
end

local function attempts_of(room_queue)
  local stored = redis.call('HGET', HEADS, room_queue)
  return stored and cjson.decode(stored) or { failures = 0 }
end

local function remove_room_queue(room_queue)
  redis.call('ZREM', DUE, room_queue)
  redis.call('HDEL', HEADS, room_queue)
end

-- Claims the head of a room queue and returns the delivery as JSON; nil when the queue is empty.
local function claim_head(room_queue, lease_ms)
  local _, text, id = head_of(room_queue)
  if not text then
    remove_room_queue(room_queue)
    return nil
  end
  local attempts = attempts_of(room_queue)
  local claim_token = redis.call('HINCRBY', STATE, 'tickets', 1)
  attempts.ticket = claim_token
  redis.call('HSET', HEADS, room_queue, cjson.encode(attempts))
  renew_expiry(HEADS)
  redis.call('ZADD', DUE, now + lease_ms, room_queue)
  renew_expiry(list_of(room_queue))
  return cjson.encode({
    roomQueue = room_queue,
    eventId = id,
    body = text,
    failures = attempts.failures,
    claimToken = claim_token,
  })
end
