-- The transitions of one room: the translation of seats.ts. Every event raises the revision by one, so a gap in revisions
-- is a missed event. Events and evicted sessions are collected for the reply.

local events, evicted = {}, {}

-- Raises the revision, and records the event that does so.
local function next_revision(room, name, event)
  room.rev = room.rev + 1
  event.name, event.code, event.ref, event.rev = name, room.code, room.ref, room.rev
  events[#events + 1] = cjson.encode(event)
  append_feed_event(room, name, event)
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

local function new_seat(room, by, metadata)
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
  write_seat(room, seat)
  room.nextSeq, room.emptySince, room.lastActive = room.nextSeq + 1, nil, now
  return seat
end

-- A new member. The first one in an empty room is its host.
local function add_seat(room, by, metadata)
  local seat = new_seat(room, by, metadata)
  next_revision(room, 'member:joined', { seat = seat, hostId = room.hostId })
  if not room.hostId then
    room.hostId = by.userId
    next_revision(room, 'host:changed', { hostId = room.hostId })
  end
end

-- The connection is lost: the seat is kept for the grace period.
local function suspend_seat(room, seat)
  seat.state, seat.leaseUntil = 'away', now + policy.graceMs
  write_seat(room, seat)
  next_revision(room, 'member:away', { userId = seat.userId })
end

-- A later session of the same user gets the seat. The events are always away, then back.
local function move_seat_to_session(room, seat, by)
  if seat.state == 'present' then
    suspend_seat(room, seat)
  end
  seat.state, seat.session, seat.nodeId, seat.leaseUntil = 'present', by.session, by.nodeId, now + policy.leaseMs
  write_seat(room, seat)
  room.lastActive = now
  next_revision(room, 'member:back', { seat = seat, hostId = room.hostId })
end

-- Extends the lease of a present member only; an away one must resume.
local function renew_seat(room, seat)
  if seat.state == 'present' then
    seat.leaseUntil = now + policy.leaseMs
    write_seat(room, seat)
  end
end

local function end_room(room, reason)
  local leaving = {}
  for index, seat in ipairs(seats_of(room)) do
    evict(room, seat, reason)
    delete_seat(room, seat)
    leaving[index] = seat.userId
  end
  -- One string with spaces between: cjson would encode an empty list as an object.
  next_revision(room, 'room:closed', { reason = reason, leaving = table.concat(leaving, ' ') })
  room.ended = true
end

-- The next host: the present member that joined first, else the member that joined first.
local function heir_of(room)
  local seats = seats_of(room)
  for _, seat in ipairs(seats) do
    if seat.state == 'present' then
      return seat.userId
    end
  end
  return seats[1] and seats[1].userId
end

local function hand_on_host(room)
  room.hostId = heir_of(room)
  next_revision(room, 'host:changed', { hostId = room.hostId })
end

-- A member is gone for good. Another member becomes host, or the room ends, by policy.
local function remove_seat(room, seat, reason)
  delete_seat(room, seat)
  room.emptySince = redis.call('HLEN', room.members) == 0 and now or nil
  next_revision(room, 'member:left', { userId = seat.userId, reason = reason })
  if reason ~= 'left' then
    evict(room, seat, reason)
  end
  if room.hostId ~= seat.userId then
    return
  end
  if policy.closeOnHostLeave then
    return end_room(room, 'host-left')
  end
  hand_on_host(room)
end

-- The reply with a snapshot of the room. The seats are JSON as they are stored.
local function reply_snapshot(room)
  local seats = list(redis.call('HVALS', room.members))
  return '{"ok":true,"room":' .. cjson.encode(fields_of(room)) .. ',"seats":' .. seats .. ',"events":' .. list(events) .. '}'
end

-- The reply with the revision, the events and the evicted sessions; saves the room.
local function reply_revision(room)
  save_room(room)
  local rest = ',"events":' .. list(events) .. ',"evicted":' .. list(evicted) .. '}'
  return '{"ok":true,"rev":' .. cjson.encode(room.rev) .. rest
end

-- A member comes back to its seat, with the same session or a later one.
local function resume_seat(room, seat, by)
  if by.session < seat.session then
    return refuse('SESSION_EXPIRED')
  end
  if by.session == seat.session and seat.state == 'present' then
    room.lastActive = now
  else
    move_seat_to_session(room, seat, by)
  end
  save_room(room)
  return reply_snapshot(room)
end
