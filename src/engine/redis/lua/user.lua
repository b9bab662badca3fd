-- The user's record: shared by the scripts of the user commands.
--
-- KEYS[1]  user: hash with session, serverId, status, currentRoom, ref, lastActive, connectedAt, name, mediaType, and
--          untilAt, after which it counts as expired. Redis deletes it then, by its own expiry.
--          Stored names: serverId is the nodeId of UserRecord in user.ts, currentRoom and ref are the code and ref of its
--          seat.
--
-- ARGV[1]  policy, see Policy in room.ts

local policy = command.policy
local FIELDS = {
  'session', 'serverId', 'status', 'currentRoom', 'ref', 'lastActive', 'connectedAt', 'name', 'mediaType', 'untilAt',
}
local NUMBERS = { session = true, lastActive = true, connectedAt = true, untilAt = true }

local function load_record()
  local kept = redis.call('HMGET', KEYS[1], unpack(FIELDS))
  local record = {}
  for index, field in ipairs(FIELDS) do
    local text = kept[index] or nil
    record[field] = text and NUMBERS[field] and tonumber(text) or text
  end
  if record.session and record.untilAt > now then
    return record
  end
end

-- The record of an away user outlives the grace of its seat. A hash without an expiry would stay for ever, so only this
-- function writes one.
local function save_record(record)
  local ttl = record.status == 'away' and math.max(policy.leaseMs, policy.graceMs) or policy.leaseMs
  record.untilAt = now + ttl
  local pairs_of = {}
  for _, field in ipairs(FIELDS) do
    if record[field] ~= nil then
      pairs_of[#pairs_of + 1] = field
      pairs_of[#pairs_of + 1] = NUMBERS[field] and string.format('%.0f', record[field]) or record[field]
    end
  end
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], unpack(pairs_of))
  redis.call('PEXPIRE', KEYS[1], ttl)
end
