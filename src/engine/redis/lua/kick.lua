#!lua flags=allow-oom
-- The host, or the owner, removes a member, and may ban it from the room.
--
-- KEYS[1..6]  taken, leases, due, cooling, meta of the shard, and the feed, see room.lua
-- KEYS[7]     room: hash of the room
-- KEYS[8]     members: hash, userId -> seat as JSON
-- ARGV[1]     code, ref, userId and session or owner, target, ban; policy, maxBans

local room = load_room(command.code, KEYS[7], KEYS[8])
local may, reason = authorize(room, command)
if not may then
  return refuse(reason)
end
if command.target == command.userId then
  return refuse('CONFLICT')
end
local target = seat_of(room, command.target)
if not target then
  return refuse('PEER_NOT_FOUND')
end

-- maxBans bounds the room's record: beyond it the oldest ban is dropped.
local function ban()
  local banned = {}
  for user_id in string.gmatch((room.banned or '') .. ' ' .. command.target, '%S+') do
    banned[#banned + 1] = user_id
  end
  room.banned = table.concat(banned, ' ', math.max(1, #banned - command.maxBans + 1))
end

if command.ban then
  ban()
end
room.lastActive = now
remove_seat(room, target, 'kicked')
return reply_revision(room)
