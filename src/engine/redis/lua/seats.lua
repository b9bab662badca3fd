-- What happens to a room: the translation of seats.ts. Events are collected on the way, and each of them raises the
-- revision by one, so a gap in revisions is a missed event.

local events, evicted = {}, {}

-- The event that brings the room to its next revision.
local function bump(room, name, particulars)
  room.rev = room.rev + 1
  particulars.name, particulars.code, particulars.ref, particulars.rev = name, room.code, room.ref, room.rev
  events[#events + 1] = cjson.encode(particulars)
  publish(room, name, particulars)
end

local function evict(room, seat, reason)
  evicted[#evicted + 1] = cjson.encode({
    code = room.code,
    ref = room.ref,
    userId = seat.userId,
    session = seat.session,
    nodeId = seat.nodeId,
    reason = reason,
  })
end

local function take_seat(room, by, metadata)
  local seat = {
    userId = by.userId,
    name = by.profile.name,
    mediaType = by.profile.mediaType,
    metadata = metadata,
    seq = room.nextSeq,
    joinedAt = now,
    state = 'present',
    session = by.session,
    nodeId = by.nodeId,
    leaseUntil = now + policy.leaseMs,
  }
  put_seat(room, seat)
  room.nextSeq, room.emptySince, room.lastActive = room.nextSeq + 1, nil, now
  return seat
end

-- Takes a free seat. The first in an empty room is its host.
local function sit(room, by, metadata)
  local seat = take_seat(room, by, metadata)
  bump(room, 'member:joined', { seat = seat, hostId = room.hostId })
  if not room.hostId then
    room.hostId = by.userId
    bump(room, 'host:changed', { hostId = room.hostId })
  end
end

-- Keeps the seat of a lost connection for the grace.
local function suspend_seat(room, seat)
  seat.state, seat.leaseUntil = 'away', now + policy.graceMs
  put_seat(room, seat)
  bump(room, 'member:away', { userId = seat.userId })
end

-- Gives a seat to a later session of the same user. It always reads as away, then back.
local function take_over(room, seat, by)
  if seat.state == 'present' then
    suspend_seat(room, seat)
  end
  seat.state, seat.session, seat.nodeId, seat.leaseUntil = 'present', by.session, by.nodeId, now + policy.leaseMs
  put_seat(room, seat)
  room.lastActive = now
  bump(room, 'member:back', { seat = seat, hostId = room.hostId })
end

-- Only a present member is kept by renewing; an away one must resume.
local function renew_seat(room, seat)
  if seat.state == 'present' then
    seat.leaseUntil = now + policy.leaseMs
    put_seat(room, seat)
  end
end

local function end_room(room, reason)
  local leaving = {}
  for index, seat in ipairs(seats_of(room)) do
    evict(room, seat, reason)
    remove_seat(room, seat)
    leaving[index] = seat.userId
  end
  -- As text, for an empty list would be written as an object.
  bump(room, 'room:closed', { reason = reason, leaving = table.concat(leaving, ' ') })
  room.ended = true
end

-- The member that has been present longest, else the one that joined first.
local function heir_of(room)
  local seats = seats_of(room)
  for _, seat in ipairs(seats) do
    if seat.state == 'present' then
      return seat.userId
    end
  end
  return seats[1] and seats[1].userId
end

-- Frees a seat for good. A host hands over, or ends the room by policy.
local function vacate(room, seat, reason)
  remove_seat(room, seat)
  room.emptySince = redis.call('HLEN', room.members) == 0 and now or nil
  bump(room, 'member:left', { userId = seat.userId, reason = reason })
  if reason ~= 'left' then
    evict(room, seat, reason)
  end
  if room.hostId ~= seat.userId then
    return
  end
  if policy.closeOnHostLeave then
    return end_room(room, 'host-left')
  end
  room.hostId = heir_of(room)
  bump(room, 'host:changed', { hostId = room.hostId })
end

-- The reply of who has a place in the room. The seats are JSON as they are kept.
local function placed(room)
  local seats = list(redis.call('HVALS', room.members))
  return '{"ok":true,"room":' .. cjson.encode(view(room)) .. ',"seats":' .. seats .. ',"events":' .. list(events) .. '}'
end

-- The reply of what changes a room for others.
local function moved(room)
  settle(room)
  local told = ',"events":' .. list(events) .. ',"evicted":' .. list(evicted) .. '}'
  return '{"ok":true,"rev":' .. cjson.encode(room.rev) .. told
end

-- Whoever has a seat may come back to it with the same session or a later one.
local function come_back(room, seat, by)
  if by.session < seat.session then
    return refuse('SESSION_EXPIRED')
  end
  if by.session == seat.session and seat.state == 'present' then
    room.lastActive = now
  else
    take_over(room, seat, by)
  end
  settle(room)
  return placed(room)
end
