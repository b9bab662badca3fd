#!lua flags=allow-oom
-- Says what became of a delivery, and takes the next event of its lane.
--
-- KEYS[1..5]  state, due, heads, dead, graves of the endpoint, see lanes.lua
-- ARGV[1]     lane, eventId, ticket, verdict { kind, reason, retryMs, giveUpMs }, leaseMs (missing: take no more),
--             leastAttempts, mostDead; lanes, forgottenAfterMs

local lane, verdict = command.lane, command.verdict
local since, text, id = head_of(lane)
local known = known_of(lane)
if not text or id ~= command.eventId or known.ticket ~= command.ticket then
  return '{"current":false,"died":false}'
end

local function pop()
  redis.call('LPOP', list_of(lane))
  redis.call('HDEL', HEADS, lane)
  redis.call('HINCRBY', STATE, 'pending', -1)
end

-- The oldest graves make room for newer ones.
local function bury(failures)
  local number = redis.call('HINCRBY', STATE, 'burials', 1)
  redis.call('ZADD', DEAD, number, id)
  redis.call('HSET', GRAVES, id, cjson.encode({ attempts = failures, reason = verdict.reason, at = now }) .. '\n' .. text)
  keep(DEAD)
  keep(GRAVES)
  local surplus = redis.call('ZCARD', DEAD) - command.mostDead
  if surplus > 0 then
    local oldest = redis.call('ZPOPMIN', DEAD, surplus)
    for index = 1, #oldest, 2 do
      redis.call('HDEL', GRAVES, oldest[index])
    end
    redis.call('HINCRBY', STATE, 'dropped', surplus)
  end
end

-- Lets go of the head, to be tried again at an instant.
local function wait(failures, at)
  redis.call('HSET', HEADS, lane, cjson.encode({ failures = failures }))
  redis.call('ZADD', DUE, at, lane)
  keep(HEADS)
  return '{"current":true,"died":false}'
end

local died = false
if verdict.kind == 'released' then
  return wait(known.failures, now)
elseif verdict.kind == 'delivered' then
  redis.call('HSET', STATE, 'lastDeliveredAt', string.format('%.0f', now))
else
  local failures = known.failures + 1
  redis.call('HSET', STATE, 'lastReason', verdict.reason, 'lastFailedAt', string.format('%.0f', now))
  if now < since + verdict.giveUpMs or failures < command.leastAttempts then
    return wait(failures, now + verdict.retryMs)
  end
  bury(failures)
  died = true
end
pop()
local taken = nil
if redis.call('EXISTS', list_of(lane)) == 0 then
  drop_lane(lane)
elseif command.leaseMs then
  taken = take_head(lane, command.leaseMs)
else
  redis.call('ZADD', DUE, now, lane)
end
return '{"current":true,"died":' .. tostring(died) .. (taken and ',"next":' .. taken or '') .. '}'
