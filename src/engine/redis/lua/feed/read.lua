#!lua flags=no-writes
-- A page of the feed, after a position.
--
-- KEYS[1]  feed  stream, see feed.lua
-- ARGV[1]  id and ordinal of the position (missing for the beginning), limit
--
-- Ordinal: the number of entries ever written up to a position. lost = max(0, dropped - ordinal); without a position all
-- dropped entries are lost. A position beyond the end is of a stream that has lost its last entries, or all. Replies with lost, the id and the ordinal of the last entry of the page, and the texts.

if redis.call('EXISTS', KEYS[1]) == 0 then
  return { '0', '', '0' }
end
local info = redis.call('XINFO', 'STREAM', KEYS[1])
local figures = {}
for index = 1, #info, 2 do
  figures[info[index]] = info[index + 1]
end
local added = figures['entries-added']
local dropped = added - figures.length
local id, ordinal = command.id, command.ordinal

local function is_behind(a, b)
  local ms_a, seq_a = string.match(a, '^(%d+)-(%d+)$')
  local ms_b, seq_b = string.match(b, '^(%d+)-(%d+)$')
  if ms_a ~= ms_b then
    return tonumber(ms_a) < tonumber(ms_b)
  end
  return tonumber(seq_a) < tonumber(seq_b)
end

if not id then
  id, ordinal = '-', 0
elseif ordinal > added then
  local first = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
  if first and not is_behind(id, first[1]) then
    -- Entries up to the position are left, and have been read: those behind it are new. Ids grow with the time.
    ordinal = added
  else
    -- The stream was made anew, and is read from its start.
    id, ordinal = '-', 0
  end
end
local lost = math.max(0, dropped - ordinal)
ordinal = ordinal + lost
local entries = redis.call('XRANGE', KEYS[1], id == '-' and id or '(' .. id, '+', 'COUNT', command.limit)
local last = entries[#entries]
-- At the end of the stream, entries-added is the exact ordinal.
ordinal = #entries < command.limit and added or ordinal + #entries
local reply = { tostring(lost), last and last[1] or command.id or '', string.format('%.0f', ordinal) }
for _, entry in ipairs(entries) do
  reply[#reply + 1] = entry[2][2]
end
return reply
