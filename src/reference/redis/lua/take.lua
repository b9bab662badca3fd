#!lua
-- Takes numbers out of the blocks of a year: up to `preferred`, at least `needed`, or none.
--
-- KEYS[1]  hash of the item type, see blocks.lua
-- ARGV[1]  prefix; needed, preferred; year, if not the current one; outageMs, minBlock, maxBlock, claimMs: when to lease
--          more, and how much; leased: a list of { year, number } that the caller knows to be leased; after = { epoch,
--          year, number }: the last number that the caller was given

local MEMORY_MS = 30000

local year = command.year or year_of(now)

for _, leased in ipairs(command.leased) do
  local field = 'top:' .. whole(leased.year)
  if leased.number > top_of(whole(leased.year)) then
    state[field] = whole(leased.number)
    redis.call('HSET', KEY, field, state[field])
  end
end

-- A caller is given rising numbers only, even after an old hash was restored.
local function skip(blocks)
  local after = command.after
  if not after or after.epoch ~= epoch or after.year ~= year then
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
local count = math.max(command.needed, math.min(command.preferred, left))

local past = tonumber(state.rate or '0') * math.exp(-math.max(0, now - tonumber(state.at or '0')) / MEMORY_MS)
local rate = past + count / MEMORY_MS
-- Numbers used during an outage of the database.
local outage = rate * command.outageMs

-- Lease hint. Given while half of a block is left, so that a database outage starting now does not stop the numbers.
local function lease_hint(of_year, min_amount)
  local amount = math.min(math.ceil(math.max(2 * outage, command.minBlock)), command.maxBlock)
  return '{"year":' .. whole(of_year)
    .. ',"top":' .. whole(top_of(whole(of_year)))
    .. ',"amount":' .. whole(math.max(min_amount, amount)) .. '}'
end

-- A claim expires by itself, because its node may die.
local function claims(of_year, remaining)
  local field = 'claim:' .. whole(of_year)
  local enough = math.min(math.max(1.5 * outage, command.minBlock / 2), command.maxBlock / 2)
  if remaining >= enough or tonumber(state[field] or '0') > now then
    return false
  end
  redis.call('HSET', KEY, field, whole(now + command.claimMs))
  return true
end

-- Splits the blocks into the ranges to give out and the rest.
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

local stamp = '"now":' .. whole(now) .. ',"year":' .. whole(year) .. ',"epoch":"' .. epoch .. '"'
if left < count then
  return '{"ok":false,' .. stamp .. ',"short":' .. lease_hint(year, command.preferred) .. '}'
end

local ranges, rest = draw()
redis.call('HSET', KEY, 'blocks:' .. whole(year), text_of(rest), 'rate', tostring(rate), 'at', whole(now))
local hints = {}
if claims(year, left - count) then
  hints[#hints + 1] = lease_hint(year, 1)
end
-- Blocks of the next year are leased ahead: the database may be away at midnight.
local ends = days_before(year + 1) * 86400000
if not command.year and ends - now < 2 * command.outageMs then
  if claims(year + 1, size_of(blocks_of(whole(year + 1)))) then
    hints[#hints + 1] = lease_hint(year + 1, 1)
  end
end
-- Blocks of the past year are never taken again.
if state['blocks:' .. whole(year - 1)] then
  redis.call('HDEL', KEY, 'blocks:' .. whole(year - 1), 'claim:' .. whole(year - 1))
end
return '{"ok":true,' .. stamp
  .. ',"ranges":[' .. table.concat(ranges, ',')
  .. '],"hints":[' .. table.concat(hints, ',') .. ']}'
