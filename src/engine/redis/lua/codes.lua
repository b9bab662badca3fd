-- The codes of a shard: the translation of pool.ts. Shared by the scripts that look for codes.
--
-- ARGV[1]  candidates, searchFrom, for scripts that take a code; shard; pool

local function code_at(index)
  return string.format('%.0f', command.pool.minCode + index * command.pool.shards + command.shard)
end

-- The first 0 of the bitmap from an index on, wrapping around once. BITPOS compares whole words, so the cost does not
-- grow with the number of taken codes.
local function scan(search_from)
  local last = command.pool.perShard - 1
  local index = redis.call('BITPOS', TAKEN, 0, search_from, last, 'BIT')
  if index < 0 and search_from > 0 then
    index = redis.call('BITPOS', TAKEN, 0, 0, search_from - 1, 'BIT')
  end
  return index
end

-- A free candidate, else any free code, else the code that has finished cooling longest ago and that no tick has freed
-- yet. The code is marked as taken.
local function allocate()
  for _, code in ipairs(command.candidates) do
    if redis.call('SETBIT', TAKEN, index_of(code), 1) == 0 then
      return code
    end
  end
  -- BITPOS finds no 0 behind the end of the string, so it is extended to the whole pool.
  if redis.call('STRLEN', TAKEN) * 8 < command.pool.perShard then
    redis.call('SETBIT', TAKEN, command.pool.perShard - 1, 0)
  end
  local index = scan(command.searchFrom % command.pool.perShard)
  if index >= 0 then
    redis.call('SETBIT', TAKEN, index, 1)
    return code_at(index)
  end
  local cooled = redis.call('ZRANGEBYSCORE', COOLING, '-inf', now, 'LIMIT', 0, 1)[1]
  if cooled then
    redis.call('ZREM', COOLING, cooled)
  end
  return cooled
end
