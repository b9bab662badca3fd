#!lua
-- Adds a block that was leased from the ledger.
--
-- KEYS[1]  hash of the item type, see blocks.lua
-- ARGV[1]  prefix; year, first, last. An empty block (first after last) only raises the top.
--
-- Only a block above the top is added: no block can be added twice, and numbers only rise.

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
