-- The epoch of a shard: the translation of epoch.ts and recovery.ts. Every script of a shard begins with it. When Redis is
-- not the one that has written the shard, or not any more, a new epoch begins: its state may be old, or gone.
--
-- KEYS[5]  meta  hash of the shard
--            life          the life of Redis in which it was written: run id and replication id, or `hidden`
--            epoch         number, see epoch.ts; since and recoverUntil are its instants
--            restored      the nodes that have restored what they hold, with spaces around and between
--            settled       1 when what follows a recovery has been done, see tick.lua
--            tickedAt      when any node last ticked the shard
--            noReapBefore  leases and rooms are not reaped before
-- ARGV[1]  kind; policy; life: what the node believes the life of Redis to be, missing before its first tick;
--          knownEpoch: the epoch in which the node has restored what it holds, missing when it has never held anything
--
-- READ_ONLY, whether the script must not write, and DEFERRED, DOUBTFUL, LEAP, SEQ_LEAP and RECONNECTED_MS are generated: see
-- fields.ts.

local policy = command.policy
local META = KEYS[5]
-- Hash: ref -> the code that a restore has given that room instead of its own; '' when a restored room has ended. Not
-- declared, but in the slot of META.
local MOVED = META .. ':moved'

-- The run id changes when Redis starts, the replication id when a replica is promoted. A server may hide
-- them, or refuse INFO to this user: then only a state that is missing is noticed. The name of the command is a variable,
-- because the write probe demands every command that is named in a call.
local function ask_life()
  local info_command = 'INFO'
  local info = redis.pcall(info_command, 'server', 'replication')
  local run = type(info) == 'string' and string.match(info, 'run_id:(%x+)')
  if not run then
    return 'hidden'
  end
  return run .. ':' .. (string.match(info, 'master_replid:(%x+)') or '')
end

local kept = redis.call('HMGET', META, 'life', 'epoch', 'recoverUntil')
local life, epoch, recover_until = kept[1], tonumber(kept[2] or 0), tonumber(kept[3] or 0)

-- A read does the same without writing it down: the next script that writes will.
local function begin_epoch()
  epoch, recover_until = math.max(epoch + 1, now), now + policy.recoveryMs
  if not READ_ONLY then
    redis.call('HSET', META, 'life', life, 'epoch', epoch, 'since', now, 'recoverUntil', recover_until)
    redis.call('HDEL', META, 'settled', 'restored')
  end
end

-- INFO costs more than most scripts: it is asked only when node and shard disagree, and in every tick, because a server
-- can become another one and keep its connections.
if not life or life ~= command.life or command.kind == 'tick' then
  local truth = ask_life()
  if truth ~= life then
    life = truth
    begin_epoch()
  end
end

local recovering_ms = math.max(0, recover_until - now)

-- The asking node has not restored yet what it holds: what is missing may be what it has to give. It restores as soon as
-- it is told.
local behind = command.knownEpoch and command.knownEpoch ~= epoch or false
local BEHIND_RETRY_MS = 500

local function still_recovering()
  local wait_ms = math.max(recovering_ms, behind and BEHIND_RETRY_MS or 0)
  return cjson.encode({ ok = false, reason = 'RECOVERING', recoveringMs = wait_ms, behind = behind })
end

local function holds(words, word)
  return string.find(words, ' ' .. word .. ' ', 1, true) ~= nil
end

if recovering_ms > 0 and holds(DEFERRED, command.kind) then
  return still_recovering()
end

local refuse_for_good = refuse

-- A refusal that rests on what is missing or old says nothing while the shard recovers, or is to be restored by this node.
local function refuse(reason)
  if (recovering_ms > 0 or behind) and holds(DOUBTFUL, reason) then
    return still_recovering()
  end
  return refuse_for_good(reason)
end

-- A revision of an earlier epoch as one of this epoch.
local function leaped(rev, from)
  return rev + LEAP + math.max(0, epoch - from)
end

-- Brings a room into the epoch. It is stored with whatever is written next.
local function leap(room)
  if room.epoch ~= epoch then
    room.rev = leaped(room.rev, room.epoch or epoch)
    room.leapedTo, room.epoch = room.rev, epoch
    -- So that a member that joins now does not get the number of a lost one.
    room.nextSeq = room.nextSeq + SEQ_LEAP
  end
end

local function remember(ref, code)
  redis.call('HSET', MOVED, ref, code)
  -- Not needed after the time in which rooms are restored.
  redis.call('PEXPIRE', MOVED, policy.leaseMs + 60000)
end

-- A node that has not heard of the end of a room must not bring it back.
local function remember_ended(room)
  if room.leapedTo then
    remember(room.ref, '')
  end
end
