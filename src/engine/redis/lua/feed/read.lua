#!lua flags=no-writes
-- A page of the feed, behind a position.
--
-- KEYS[1]  feed  stream, see feed.lua
-- ARGV[1]  id and ordinal of the place (missing for the beginning), limit
--
-- An ordinal counts the entries up to a place, those dropped by now included: the difference to what has been dropped
-- is what nobody can read any more; without a place, all that has been dropped. Answers with how many those are, the place behind the page, then its texts.

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
-- Where fewer have ever been added, the place is one in a stream that is gone.
if not id or ordinal > added then
  id, ordinal = '-', 0
end
local lost = math.max(0, dropped - ordinal)
ordinal = ordinal + lost
local entries = redis.call('XRANGE', KEYS[1], id == '-' and id or '(' .. id, '+', 'COUNT', command.limit)
local last = entries[#entries]
-- At the end, what has been counted is exact, whatever was added up on the way.
ordinal = #entries < command.limit and added or ordinal + #entries
local reply = { tostring(lost), last and last[1] or command.id or '', string.format('%.0f', ordinal) }
for _, entry in ipairs(entries) do
  reply[#reply + 1] = entry[2][2]
end
return reply
