#!lua flags=allow-oom
-- The host takes a member's seat away, and may keep it out for good.
--
-- KEYS[1..4]  taken, leases, due, cooling of the shard, see room.lua
-- KEYS[5]     room: hash of the room
-- KEYS[6]     members: hash, userId -> seat as JSON
-- ARGV[1]     code, ref, userId, session, target, ban; policy, mostBans

local room = load_room(command.code, KEYS[5], KEYS[6])
local seat, reason = locate(room, command)
if not seat then
  return refuse(reason)
end
if room.hostId ~= command.userId then
  return refuse('FORBIDDEN')
end
if command.target == command.userId then
  return refuse('CONFLICT')
end
local target = seat_of(room, command.target)
if not target then
  return refuse('PEER_NOT_FOUND')
end

-- More bans than this push out the oldest: a room's record stays small.
local function ban()
  local banned = {}
  for user_id in string.gmatch((room.banned or '') .. ' ' .. command.target, '%S+') do
    banned[#banned + 1] = user_id
  end
  room.banned = table.concat(banned, ' ', math.max(1, #banned - command.mostBans + 1))
end

if command.ban then
  ban()
end
room.lastActive = now
vacate(room, target, 'kicked')
return moved(room)
