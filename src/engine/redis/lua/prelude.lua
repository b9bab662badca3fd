-- What every script begins with: the command, the instant, and how to answer.
--
-- ARGV[1]  the command as JSON, read by name. Beside the command's own fields:
--            now     milliseconds; only where a test turns the clock by hand, else Redis' own time counts
--            policy  how long things last, see Policy in room.ts

local command = cjson.decode(ARGV[1])
local policy = command.policy

local function instant()
  if command.now then
    return command.now
  end
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local now = instant()

-- An opaque body is JSON text that is kept and handed on as it came: cjson would change numbers and empty arrays in it.
local function opaque(text)
  if text ~= '' then
    return text
  end
end

-- cjson writes an empty table as {}, so lists are put together here from items that are JSON already.
local function list(items)
  return '[' .. table.concat(items, ',') .. ']'
end

local function refuse(reason)
  return cjson.encode({ ok = false, reason = reason })
end
