#!lua flags=allow-oom
-- Queues what is new in the feed for an endpoint, then claims the heads of room queues that are due.
--
-- KEYS[1..5]  state, due, heads, dead, graves of the endpoint, see room-queues.lua
-- KEYS[6]     events: stream of the feed, the event in its field `event`
-- ARGV[1]     types (missing for all), maxRooms, leaseMs, maxPending, from, maxRead; roomQueueKey, unusedTtlMs

local EVENTS = KEYS[6]
local HOUR = 3600000
local wanted = nil
if command.types then
  wanted = {}
  for _, kind in ipairs(command.types) do
    wanted[kind] = true
  end
end

-- How many events were ever written, how many of them are still in the stream, and the id of the newest.
local function extent()
  if redis.call('EXISTS', EVENTS) == 0 then
    return 0, 0, '0-0'
  end
  local info, figures = redis.call('XINFO', 'STREAM', EVENTS), {}
  for index = 1, #info, 2 do
    figures[info[index]] = info[index + 1]
  end
  return figures['entries-added'], figures['length'], figures['last-generated-id']
end

-- Where the endpoint stands: its cursor, and how many events were written up to it.
local function position(added, length, newest)
  local cursor = redis.call('HGET', STATE, 'cursor')
  if cursor then
    return cursor, tonumber(redis.call('HGET', STATE, 'ordinal'))
  end
  if command.from == 'end' then
    return newest, added
  end
  return '0-0', added - length
end

local function event_in(fields)
  for index = 1, #fields, 2 do
    if fields[index] == 'event' then
      return fields[index + 1]
    end
  end
end

-- Returns the new cursor, how many events were read, whether the end of the stream may not be reached, and whether the
-- caller should ask again at once.
local function queue_new_events(cursor)
  local pending = tonumber(redis.call('HGET', STATE, 'pending') or '0')
  local limit = math.min(command.maxRead, command.maxPending - pending)
  if limit <= 0 then
    return cursor, 0, true, false
  end
  local entries = redis.call('XRANGE', EVENTS, '(' .. cursor, '+', 'COUNT', limit)
  for _, entry in ipairs(entries) do
    cursor = entry[1]
    local text = event_in(entry[2])
    local event = text and parse_head(text)
    if event and (not wanted or wanted[event.type]) then
      append(event.room_queue, text)
    end
  end
  flush()
  return cursor, #entries, #entries == limit, #entries == limit
end

local function claim_due()
  local claimed = {}
  if command.maxRooms > 0 then
    local due = redis.call('ZRANGEBYSCORE', DUE, '-inf', now, 'LIMIT', 0, command.maxRooms)
    for _, room_queue in ipairs(due) do
      claimed[#claimed + 1] = claim_head(room_queue, command.leaseMs)
    end
  end
  return claimed
end

local added, length, newest = extent()
local cursor, ordinal = position(added, length, newest)
-- Events after the cursor that are no longer in the stream.
local lost = math.max(0, added - length - ordinal)
local new_cursor, read, behind, more = queue_new_events(cursor)
if behind then
  ordinal = ordinal + lost + read
else
  -- Everything is read, so the ordinal is known exactly: a Redis that has lost its last writes counts from fewer.
  ordinal = added
end
-- Every node claims every second: state that has not changed is not written.
if new_cursor ~= redis.call('HGET', STATE, 'cursor') or lost > 0 then
  redis.call('HSET', STATE, 'cursor', new_cursor, 'ordinal', string.format('%.0f', ordinal))
  redis.call('HINCRBY', STATE, 'lost', lost)
end
local deliveries = list(claim_due())
if redis.call('PTTL', STATE) < command.unusedTtlMs - HOUR then
  for index = 1, 5 do
    renew_expiry(KEYS[index])
  end
end
return '{"deliveries":' .. deliveries
  .. ',"more":' .. tostring(more)
  .. ',"lost":' .. string.format('%.0f', lost)
  .. ',"now":' .. string.format('%.0f', now) .. '}'
