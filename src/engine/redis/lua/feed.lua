-- The feed: what back ends are told, in the step that makes it true. The translation of published.ts.
--
-- KEYS[5]  feed  stream: an entry for each event, its JSON in the field `event`
-- ARGV[1]  feed  { channel, kept, nodeId }; missing where there is no feed

local TYPES = {
  ['member:joined'] = 'user_joined',
  ['member:left'] = 'user_left',
  ['member:away'] = 'user_away',
  ['member:back'] = 'user_back',
  ['member:updated'] = 'user_updated',
  ['host:changed'] = 'host_changed',
  ['room:updated'] = 'room_updated',
}

-- The texts are put together by hand: cjson would give opaque bodies back changed. Ids, codes, refs and words hold
-- nothing that JSON would have to escape, and Lua writes whole numbers of up to 14 digits as they are.
local function quoted(word)
  return word and '"' .. word .. '"' or 'null'
end

local function name_of(thing)
  return thing.name and cjson.encode(thing.name) or 'null'
end

local function member_json(seat, host_id)
  return '{"userId":"' .. seat.userId
    .. '","name":' .. name_of(seat)
    .. ',"role":"' .. (seat.userId == host_id and 'host' or 'member')
    .. '","state":"' .. seat.state
    .. '","seq":' .. seat.seq
    .. ',"joinedAt":' .. seat.joinedAt
    .. (seat.mediaType and ',"mediaType":"' .. seat.mediaType .. '"' or '')
    .. (seat.metadata and ',"metadata":' .. seat.metadata or '') .. '}'
end

local function room_json(room)
  return '{"code":"' .. room.code
    .. '","ref":"' .. room.ref
    .. '","rev":' .. room.rev
    .. ',"name":' .. name_of(room)
    .. ',"type":"' .. room.type
    .. '","maxUsers":' .. room.maxUsers
    .. ',"access":"' .. room.access
    .. '","locked":' .. tostring(room.locked)
    .. ',"hostId":' .. quoted(room.hostId)
    .. ',"createdAt":' .. room.createdAt
    .. ',"expiresAt":' .. room.expiresAt
    .. (room.metadata and ',"metadata":' .. room.metadata or '') .. '}'
end

local function append(room, rev, kind, user_id, rest)
  local feed, id = command.feed, room.ref .. ':' .. rev
  local text = '{"id":"' .. id
    .. '","type":"' .. kind
    .. '","code":"' .. room.code
    .. '","ref":"' .. room.ref
    .. '","rev":' .. rev
    .. ',"userId":' .. quoted(user_id)
    .. ',"serverId":"' .. feed.nodeId
    .. '","timestamp":' .. now .. rest .. '}'
  redis.call('XADD', FEED, 'MAXLEN', '~', feed.kept, '*', 'event', text)
  redis.call('PUBLISH', feed.channel, text)
end

-- A room ends with the leaving of everybody in it, then its destruction, a revision each.
local function publish_end(room, reason, leaving)
  local rev, because = room.rev, ',"reason":"' .. reason .. '"'
  for user_id in string.gmatch(leaving, '%S+') do
    append(room, rev, 'user_left', user_id, because)
    rev = rev + 1
  end
  append(room, rev, 'room_destroyed', nil, because)
end

local function publish_created(room)
  if command.feed then
    append(room, 0, 'room_created', room.createdBy, ',"room":' .. room_json(room))
  end
end

-- The event that has brought the room to its present revision.
local function publish(room, name, told)
  if not command.feed then
    return
  end
  if name == 'room:closed' then
    return publish_end(room, told.reason, told.leaving)
  end
  local user_id, rest = told.userId, ''
  if told.seat then
    user_id, rest = told.seat.userId, ',"member":' .. member_json(told.seat, told.hostId)
  elseif name == 'host:changed' then
    user_id = told.hostId
  elseif name == 'room:updated' then
    rest = ',"room":' .. room_json(room)
  elseif told.reason then
    rest = ',"reason":"' .. told.reason .. '"'
  end
  append(room, room.rev, TYPES[name], user_id, rest)
end
