-- Shared by all scripts: the command, the instant, and how to reply.
--
-- ARGV[1]  the command as JSON. Beside the command's own fields:
--            now  milliseconds; sent only by tests with a clock of their own, otherwise the time of Redis counts

local command = cjson.decode(ARGV[1])

local function instant()
  if command.now then
    return command.now
  end
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local now = instant()

-- An opaque body is JSON text that is never decoded here: cjson would change numbers and empty arrays in it.
local function opaque(text)
  if text ~= '' then
    return text
  end
end

-- cjson encodes an empty table as {}, so lists are concatenated here, from items that are JSON already.
local function list(items)
  return '[' .. table.concat(items, ',') .. ']'
end

local function refuse(reason)
  return cjson.encode({ ok = false, reason = reason })
end
