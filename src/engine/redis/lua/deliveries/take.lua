#!lua flags=allow-oom
-- Queues what is new in the feed for an endpoint, then takes the heads of lanes that are due.
--
-- KEYS[1..5]  state, due, heads, dead, graves of the endpoint, see lanes.lua
-- KEYS[6]     events: stream of the feed, the event in its field `event`
-- ARGV[1]     types (missing for all), rooms, leaseMs, most, from, mostRead; lanes, forgottenAfterMs

local EVENTS = KEYS[6]
local HOUR = 3600000
local wanted = nil
if command.types then
  wanted = {}
  for _, kind in ipairs(command.types) do
    wanted[kind] = true
  end
end

-- How many events were ever written, how many of them are kept, and the id of the newest.
local function extent()
  if redis.call('EXISTS', EVENTS) == 0 then
    return 0, 0, '0-0'
  end
  local told, figures = redis.call('XINFO', 'STREAM', EVENTS), {}
  for index = 1, #told, 2 do
    figures[told[index]] = told[index + 1]
  end
  return figures['entries-added'], figures['length'], figures['last-generated-id']
end

-- Where the endpoint stands: its cursor, and how many events were written up to there.
local function place(added, kept, newest)
  local cursor = redis.call('HGET', STATE, 'cursor')
  if cursor then
    return cursor, tonumber(redis.call('HGET', STATE, 'ordinal'))
  end
  if command.from == 'end' then
    return newest, added
  end
  return '0-0', added - kept
end

local function event_in(fields)
  for index = 1, #fields, 2 do
    if fields[index] == 'event' then
      return fields[index + 1]
    end
  end
end

-- Answers how many events were read, and whether there may be more.
local function queue_news(cursor)
  local pending = tonumber(redis.call('HGET', STATE, 'pending') or '0')
  local limit = math.min(command.mostRead, command.most - pending)
  if limit <= 0 then
    return cursor, 0, true, false
  end
  local entries = redis.call('XRANGE', EVENTS, '(' .. cursor, '+', 'COUNT', limit)
  for _, entry in ipairs(entries) do
    cursor = entry[1]
    local text = event_in(entry[2])
    local event = text and head_in(text)
    if event and (not wanted or wanted[event.type]) then
      enqueue(event.lane, text)
    end
  end
  queue()
  return cursor, #entries, #entries == limit, #entries == limit
end

local function take_due()
  local taken = {}
  if command.rooms > 0 then
    local due = redis.call('ZRANGEBYSCORE', DUE, '-inf', now, 'LIMIT', 0, command.rooms)
    for _, lane in ipairs(due) do
      taken[#taken + 1] = take_head(lane, command.leaseMs)
    end
  end
  return taken
end

local added, kept, newest = extent()
local cursor, ordinal = place(added, kept, newest)
-- What was written after the cursor and is not among the kept ones.
local lost = math.max(0, added - kept - ordinal)
local after, read, behind, more = queue_news(cursor)
if behind then
  ordinal = ordinal + lost + read
else
  -- Everything is read, so this is known anew: a Redis that has lost its last writes counts on from fewer.
  ordinal = added
end
-- Every node asks every second: what has not changed is not written.
if after ~= redis.call('HGET', STATE, 'cursor') or lost > 0 then
  redis.call('HSET', STATE, 'cursor', after, 'ordinal', string.format('%.0f', ordinal))
  redis.call('HINCRBY', STATE, 'lost', lost)
end
local deliveries = list(take_due())
if redis.call('PTTL', STATE) < command.forgottenAfterMs - HOUR then
  for index = 1, 5 do
    keep(KEYS[index])
  end
end
return '{"deliveries":' .. deliveries
  .. ',"more":' .. tostring(more)
  .. ',"lost":' .. string.format('%.0f', lost) .. '}'
