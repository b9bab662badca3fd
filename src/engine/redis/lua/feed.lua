-- The feed: the events for back ends, appended in the step that commits them. The translation of feed-events.ts.
--
-- KEYS[6]  feed  stream: an entry for each event, its JSON in the field `event`
-- ARGV[1]  feed  { channel, kept, nodeId }; missing when no feed is kept
--
-- FEED_TYPE_OF (the names of events) and ROOM_JSON and MEMBER_JSON (the fields that the protocol shows) are generated: see
-- fields.ts.

-- The JSON is concatenated by hand: cjson would change the opaque bodies in it. Ids, codes, refs and words hold no
-- characters that JSON escapes, and Lua writes whole numbers of up to 14 digits without an exponent.
local function quoted(word)
  return word and '"' .. word .. '"' or 'null'
end

local function json_of(kind, value)
  if kind == 'word' or kind == 'word?' then
    return quoted(value)
  end
  return kind == 'text' and cjson.encode(value) or tostring(value)
end

-- A room or a member as the protocol shows it. The shape lists fields, each with its type.
local function object_json(shape, fields, role)
  local parts = {}
  for index = 1, #shape, 2 do
    local field, kind = shape[index], shape[index + 1]
    local value = fields[field]
    if field == 'role' then
      value = role
    end
    if value ~= nil then
      parts[#parts + 1] = '"' .. field .. '":' .. json_of(kind, value)
    elseif string.sub(kind, -1) ~= '?' then
      parts[#parts + 1] = '"' .. field .. '":null'
    end
  end
  return '{' .. table.concat(parts, ',') .. '}'
end

local function member_json(seat, host_id)
  return object_json(MEMBER_JSON, seat, seat.userId == host_id and 'host' or 'member')
end

local function room_json(room)
  return object_json(ROOM_JSON, room)
end

local function append_entry(room, rev, kind, user_id, rest)
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

-- The end of a room gives one user_left for each of its members, then room_destroyed, each with its own revision.
local function append_end(room, reason, leaving)
  local rev, reason_field = room.rev, ',"reason":"' .. reason .. '"'
  for user_id in string.gmatch(leaving, '%S+') do
    append_entry(room, rev, FEED_TYPE_OF['member:left'], user_id, reason_field)
    rev = rev + 1
  end
  append_entry(room, rev, FEED_TYPE_OF['room:closed'], nil, reason_field)
end

local function append_created(room)
  if command.feed then
    append_entry(room, 0, 'room_created', room.createdBy, ',"room":' .. room_json(room))
  end
end

-- Appends the event that has brought the room to its current revision.
local function append_feed_event(room, name, event)
  if not command.feed then
    return
  end
  if name == 'room:closed' then
    return append_end(room, event.reason, event.leaving)
  end
  local user_id, rest = event.userId, ''
  if event.seat then
    user_id, rest = event.seat.userId, ',"member":' .. member_json(event.seat, event.hostId)
  elseif name == 'host:changed' then
    user_id = event.hostId
  elseif name == 'room:updated' then
    rest = ',"room":' .. room_json(room)
  elseif event.reason then
    rest = ',"reason":"' .. event.reason .. '"'
  end
  append_entry(room, room.rev, FEED_TYPE_OF[name], user_id, rest)
end
