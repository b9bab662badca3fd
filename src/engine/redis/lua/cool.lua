#!lua flags=allow-oom
-- Codes that were released before the store lost its state go on cooling: the free ones among those that a node remembers.
--
-- KEYS[1..6]  taken, leases, due, cooling, meta of the shard, and the feed, see room.lua
-- ARGV[1]     codes (a list of code and milliseconds); policy, pool, keyPrefixes

for _, pair in ipairs(command.codes) do
  local code, for_ms = pair[1], pair[2]
  if redis.call('SETBIT', TAKEN, index_of(code), 1) == 0 then
    redis.call('ZADD', COOLING, now + for_ms, code)
  end
end
return '{"ok":true}'
