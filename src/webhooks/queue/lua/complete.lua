#!lua flags=allow-oom
-- Completes a delivery with its result, and claims the next event of its room queue.
--
-- KEYS[1..5]  state, due, heads, dead, graves of the endpoint, see room-queues.lua
-- ARGV[1]     roomQueue, eventId, claimToken, result { kind, reason, retryMs, giveUpMs }, leaseMs (missing: claim no more),
--             minAttempts, maxDead; roomQueueKey, unusedTtlMs

local room_queue, result = command.roomQueue, command.result
local queued_at, text, id = head_of(room_queue)
local attempts = attempts_of(room_queue)
local claim_token = attempts.ticket
if not text or id ~= command.eventId or claim_token ~= command.claimToken then
  return '{"current":false,"dead":false}'
end

local function remove_head()
  redis.call('LPOP', list_of(room_queue))
  redis.call('HDEL', HEADS, room_queue)
  redis.call('HINCRBY', STATE, 'pending', -1)
end

-- Deletes the oldest dead letters when there are too many.
local function add_dead_letter(failures)
  local dead_sequence = redis.call('HINCRBY', STATE, 'burials', 1)
  redis.call('ZADD', DEAD, dead_sequence, id)
  redis.call(
    'HSET', DEAD_LETTERS, id, cjson.encode({ attempts = failures, reason = result.reason, at = now }) .. '\n' .. text
  )
  renew_expiry(DEAD)
  renew_expiry(DEAD_LETTERS)
  local surplus = redis.call('ZCARD', DEAD) - command.maxDead
  if surplus > 0 then
    local oldest = redis.call('ZPOPMIN', DEAD, surplus)
    for index = 1, #oldest, 2 do
      redis.call('HDEL', DEAD_LETTERS, oldest[index])
    end
    redis.call('HINCRBY', STATE, 'dropped', surplus)
  end
end

-- Ends the claim; the head is due at an instant.
local function release(failures, due_at)
  redis.call('HSET', HEADS, room_queue, cjson.encode({ failures = failures }))
  redis.call('ZADD', DUE, due_at, room_queue)
  renew_expiry(HEADS)
  return '{"current":true,"dead":false}'
end

local dead = false
if result.kind == 'released' then
  return release(attempts.failures, now)
elseif result.kind == 'delivered' then
  redis.call('HSET', STATE, 'lastDeliveredAt', string.format('%.0f', now))
else
  local failures = attempts.failures + 1
  redis.call('HSET', STATE, 'lastReason', result.reason, 'lastFailedAt', string.format('%.0f', now))
  if now < queued_at + result.giveUpMs or failures < command.minAttempts then
    return release(failures, now + result.retryMs)
  end
  add_dead_letter(failures)
  dead = true
end
remove_head()
local next_delivery = nil
if redis.call('EXISTS', list_of(room_queue)) == 0 then
  remove_room_queue(room_queue)
elseif command.leaseMs then
  next_delivery = claim_head(room_queue, command.leaseMs)
else
  redis.call('ZADD', DUE, now, room_queue)
end
return '{"current":true,"dead":' .. tostring(dead) .. (next_delivery and ',"next":' .. next_delivery or '') .. '}'
