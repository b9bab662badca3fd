#!lua
-- Gives numbers out of the blocks of a year: as many as are welcome, no fewer than are needed, or none.
--
-- KEYS[1]  hash of the item type, see blocks.lua
-- ARGV[1]  needed, welcome; year, instead of that of now; outageMs, leastBlock, mostBlock, claimMs: when more is to be
--          leased and how much; known: a list of { year, number } that the asker knows to be leased; after = { incarnation, year, number }: the last that the asker was given; prefix

local MEMORY_MS = 30000

local year = command.year or year_of(now)

for _, known in ipairs(command.known) do
  local field = 'top:' .. whole(known.year)
  if known.number > top_of(whole(known.year)) then
    state[field] = whole(known.number)
    redis.call('HSET', KEY, field, state[field])
  end
end

-- What the asker was given last is behind all that it is given now, even when somebody has put back an old hash.
local function skip(blocks)
  local after = command.after
  if not after or after.incarnation ~= incarnation or after.year ~= year then
    return blocks
  end
  local kept = {}
  for _, block in ipairs(blocks) do
    if block.last > after.number then
      kept[#kept + 1] = { first = math.max(block.first, after.number + 1), last = block.last }
    end
  end
  return kept
end

local blocks = skip(blocks_of(whole(year)))
local left = size_of(blocks)
local count = math.max(command.needed, math.min(command.welcome, left))

local past = tonumber(state.rate or '0') * math.exp(-math.max(0, now - tonumber(state.at or '0')) / MEMORY_MS)
local rate = past + count / MEMORY_MS
-- What an outage of the database would use up.
local outage = rate * command.outageMs

-- Leased while half of it is left, so that an outage that begins right then goes unnoticed.
local function low(of_year, least)
  local amount = math.min(math.ceil(math.max(2 * outage, command.leastBlock)), command.mostBlock)
  return '{"year":' .. whole(of_year)
    .. ',"top":' .. whole(top_of(whole(of_year)))
    .. ',"amount":' .. whole(math.max(least, amount)) .. '}'
end

-- A claim ends by itself: the node that had it may have died.
local function claims(of_year, remaining)
  local field = 'claim:' .. whole(of_year)
  local enough = math.min(math.max(1.5 * outage, command.leastBlock / 2), command.mostBlock / 2)
  if remaining >= enough or tonumber(state[field] or '0') > now then
    return false
  end
  redis.call('HSET', KEY, field, whole(now + command.claimMs))
  return true
end

-- Splits what is taken off from what remains.
local function draw()
  local ranges, rest, missing = {}, {}, count
  for _, block in ipairs(blocks) do
    local size = math.min(missing, block.last - block.first + 1)
    if size > 0 then
      ranges[#ranges + 1] = '[' .. whole(block.first) .. ',' .. whole(block.first + size - 1) .. ']'
    end
    if block.first + size <= block.last then
      rest[#rest + 1] = { first = block.first + size, last = block.last }
    end
    missing = missing - size
  end
  return ranges, rest
end

local stamp = '"now":' .. whole(now) .. ',"year":' .. whole(year) .. ',"incarnation":"' .. incarnation .. '"'
if left < count then
  return '{"ok":false,' .. stamp .. ',"short":' .. low(year, command.welcome) .. '}'
end

local ranges, rest = draw()
redis.call('HSET', KEY, 'blocks:' .. whole(year), text_of(rest), 'rate', tostring(rate), 'at', whole(now))
local lows = {}
if claims(year, left - count) then
  lows[#lows + 1] = low(year, 1)
end
-- The next year begins with what was leased before it: the database may be away at midnight.
local ends = days_before(year + 1) * 86400000
if not command.year and ends - now < 2 * command.outageMs then
  if claims(year + 1, size_of(blocks_of(whole(year + 1)))) then
    lows[#lows + 1] = low(year + 1, 1)
  end
end
-- What nobody can be given any more.
if state['blocks:' .. whole(year - 1)] then
  redis.call('HDEL', KEY, 'blocks:' .. whole(year - 1), 'claim:' .. whole(year - 1))
end
return '{"ok":true,' .. stamp
  .. ',"ranges":[' .. table.concat(ranges, ',')
  .. '],"low":[' .. table.concat(lows, ',') .. ']}'
