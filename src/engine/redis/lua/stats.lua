#!lua flags=no-writes
-- Pool statistics: how many codes of the shard are occupied, how many are cooling.
--
-- KEYS[1..6]  taken, leases, due, cooling, meta of the shard, and the feed, see room.lua
-- ARGV[1]     no fields of its own

local stats = pool_stats()
stats.ok = true
return cjson.encode(stats)
