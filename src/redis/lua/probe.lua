#!lua
-- Writes, to learn whether Redis takes writes. Without flags, so that it is refused whenever any script is: on a replica,
-- without enough replicas, after a failed save, and when memory is short.
--
-- KEYS[1]  probe: string; expires

redis.call('SET', KEYS[1], '1', 'PX', 60000)
return 'ok'
