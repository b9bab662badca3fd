#!lua
-- Writes, to learn whether Redis takes writes. Without flags, so that it is refused whenever any script is: on a replica,
-- without enough replicas, after a failed save, and when memory is short. Refuses by itself when this user may not run a
-- command that other scripts run: a write of one kind does not show that another one is permitted. Replies with the time in
-- milliseconds.
--
-- KEYS[1]  probe: string; expires
-- ARGV[1]  a channel that scripts publish in
-- ARGV[2]  and after it: the names of those commands

-- Redis looks for the keys of a command at the places where that has them: there must be enough arguments.
local key = KEYS[1]
for index = 2, #ARGV do
  local name = ARGV[index]
  local first = name == 'PUBLISH' and ARGV[1] or key
  -- An error is about its arguments, such as a missing subcommand, and not about the user.
  local known, permitted = pcall(redis.acl_check_cmd, name, first, key, key, key, key, key, key, key)
  if known and not permitted then
    return redis.error_reply('NOPERM this user may not run ' .. name .. ' in a script')
  end
end
redis.call('SET', key, '1', 'PX', 60000)
local time = redis.call('TIME')
return time[1] * 1000 + math.floor(time[2] / 1000)
