#!lua
-- Takes in a block that was leased from the ledger.
--
-- KEYS[1]  hash of the item type, see blocks.lua
-- ARGV[1]  year, first, last; prefix. An empty block, whose first is behind its last, only tells how far was leased.
--
-- Blocks come in ascending order or not at all: so no block can come in twice, and numbers only rise.

local year = whole(command.year)
if command.first <= top_of(year) then
  return '{"ok":false}'
end
local blocks = blocks_of(year)
if command.first <= command.last then
  blocks[#blocks + 1] = { first = command.first, last = command.last }
end
redis.call('HSET', KEY, 'blocks:' .. year, text_of(blocks), 'top:' .. year, whole(command.last))
redis.call('HDEL', KEY, 'claim:' .. year)
return '{"ok":true}'
