#!lua flags=no-writes
-- Consistency check: reports where the keys of a shard contradict each other, looking at every code in one step.
--
-- KEYS[1..5]  taken, leases, due, cooling, meta of the shard, see room.lua
-- ARGV[1]     found: codes that have a key of a room or of its members; pool, keyPrefixes, policy

local disagreements = {}

local function expect(holds, ...)
  if not holds then
    disagreements[#disagreements + 1] = cjson.encode(table.concat({ ... }, ' '))
  end
end

local function scores(zset)
  local entries, by_name, names = redis.call('ZRANGE', zset, 0, -1, 'WITHSCORES'), {}, {}
  for index = 1, #entries, 2 do
    names[#names + 1] = entries[index]
    by_name[entries[index]] = tonumber(entries[index + 1])
  end
  return by_name, names
end

local lease_ends, leases = scores(LEASES)
local due_at, occupied = scores(DUE)
local cooled_at, cooling = scores(COOLING)
local seats = 0
local settled = redis.call('HEXISTS', META, 'settled') == 1

local function check_seats(code, room)
  local members = redis.call('HVALS', room.members)
  local has_host = false
  for _, text in ipairs(members) do
    local seat = cjson.decode(text)
    seats = seats + 1
    has_host = has_host or seat.userId == room.hostId
    local lease_end = lease_ends[code .. ' ' .. seat.userId]
    expect(lease_end == seat.leaseUntil, 'seat', code, seat.userId, 'and its lease disagree')
    expect(seat.seq < room.nextSeq, 'seat', code, seat.userId, 'has a place that is still to be given')
  end
  -- Until the shard is settled, a restored room may have a host that no node has restored yet.
  expect(has_host or room.leapedTo and not settled or not room.hostId and #members == 0, 'room', code, 'has members and no host, or a host and no seat')
  expect((room.emptySince ~= nil) == (#members == 0), 'room', code, 'is wrong about being empty')
end

local function check_room(code)
  local room = load_by_code(code)
  expect(redis.call('GETBIT', TAKEN, index_of(code)) == 1, 'code', code, 'is occupied and marked free')
  expect(not cooled_at[code], 'code', code, 'is occupied and cooling')
  expect(room, 'code', code, 'is occupied by no room')
  if room then
    expect(due_at[code] <= room.expiresAt, 'room', code, 'is due after its greatest age')
    check_seats(code, room)
  end
end

for _, code in ipairs(occupied) do
  check_room(code)
end
for _, code in ipairs(cooling) do
  expect(redis.call('GETBIT', TAKEN, index_of(code)) == 1, 'code', code, 'is cooling and marked free')
end
for _, code in ipairs(command.found) do
  local kept = redis.call('EXISTS', command.keyPrefixes.room .. code, command.keyPrefixes.members .. code)
  expect(kept == 0 or due_at[code], 'code', code, 'has a room and is not occupied')
end
local marked = redis.call('BITCOUNT', TAKEN)
expect(marked == #occupied + #cooling, marked, 'codes are marked,', #occupied, 'occupied,', #cooling, 'cooling')
expect(#leases == seats, #leases, 'leases,', seats, 'seats')

return '{"marked":' .. marked
  .. ',"occupied":' .. #occupied
  .. ',"cooling":' .. #cooling
  .. ',"seats":' .. seats
  .. ',"disagreements":' .. list(disagreements) .. '}'
