-- Shared by the scripts of references: loads the blocks of one item type and drops those of an earlier Redis epoch.
--
-- KEYS[1]  hash of an item type
--            prefix          prefix of the item type; state of another prefix is deleted
--            incarnation     the Redis epoch (run id and replication id) in which the blocks were added
--            blocks:<year>   '<first>-<last> ...', numbers not given out yet
--            top:<year>      the highest number known to have been leased, in any epoch
--            claim:<year>    instant until which one node is leasing more; others do not try
--            rate, at        requested numbers per millisecond, as of the instant `at`
-- ARGV[1]  the command as JSON: prefix, and the command's own fields

local KEY = KEYS[1]
local command = cjson.decode(ARGV[1])

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local function whole(number)
  return string.format('%.0f', number)
end

-- The run id changes when Redis starts, the replication id when a replica is promoted. Both are needed: a demoted primary
-- that is promoted again keeps its run id, but may have lost numbers that it gave out before.
local function epoch_of_now()
  local info = redis.call('INFO', 'server', 'replication')
  local run = string.match(info, 'run_id:(%x+)')
  if not run then
    error('INFO tells no run_id')
  end
  return run .. ':' .. (string.match(info, 'master_replid:(%x+)') or '')
end

local epoch = epoch_of_now()

local function load_state()
  local flat = redis.call('HGETALL', KEY)
  local state = {}
  for index = 1, #flat, 2 do
    state[flat[index]] = flat[index + 1]
  end
  if state.prefix ~= command.prefix then
    redis.call('DEL', KEY)
    return {}
  end
  return state
end

local state = load_state()

-- Blocks of an earlier epoch are dropped; the tops stay, so that the ledger can be compared with them.
if state.incarnation ~= epoch then
  for field in pairs(state) do
    if string.match(field, '^blocks:') or string.match(field, '^claim:') then
      redis.call('HDEL', KEY, field)
      state[field] = nil
    end
  end
  redis.call('HSET', KEY, 'prefix', command.prefix, 'incarnation', epoch)
end

local function top_of(year)
  return tonumber(state['top:' .. year] or '0')
end

local function blocks_of(year)
  local blocks = {}
  for first, last in string.gmatch(state['blocks:' .. year] or '', '(%d+)%-(%d+)') do
    blocks[#blocks + 1] = { first = tonumber(first), last = tonumber(last) }
  end
  return blocks
end

local function size_of(blocks)
  local size = 0
  for _, block in ipairs(blocks) do
    size = size + block.last - block.first + 1
  end
  return size
end

local function text_of(blocks)
  local texts = {}
  for index, block in ipairs(blocks) do
    texts[index] = whole(block.first) .. '-' .. whole(block.last)
  end
  return table.concat(texts, ' ')
end
