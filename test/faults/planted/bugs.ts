/** Bugs to plant into the server, each with the law that must find it. */
import type { LawName } from '../checker/check.ts';
import type { Patch } from './build.ts';

export interface Bug {
  readonly name: string;
  readonly patches: readonly Patch[];
  readonly caughtBy: LawName;
  /** Faults that bring it out; none for a bug that shows by itself. */
  readonly faults: readonly string[];
}

const SEATS = 'engine/redis/lua/seats.lua';
const SESSION = 'server/sessions/session.js';
const WRITE = 'writeEvent(this.socket, event);';
const ANNOUNCE = 'server/presence/announce.js';
const EMIT = 'io.to(socketRoom(body.ref)).emit(name, body);';

/** In place of the write of a signal; other pushes go out as they are. */
const onSignal = (act: string): Patch => ({
  file: SESSION,
  from: WRITE,
  to: `const write = (text) => writeEvent(this.socket, text);
        if (!event.startsWith('["signal"')) return write(event);
        ${act}`,
});

export const BUGS: readonly Bug[] = [
  {
    name: 'members are told the code of another room',
    patches: [
      {
        file: 'server/rooms/requests.js',
        from: 'reply.ok ? { ...reply, iceServers:',
        to: "reply.ok ? { ...reply, room: { ...reply.room, code: '123456' }, iceServers:",
      },
    ],
    caughtBy: 'no code leads to two live rooms',
    faults: [],
  },
  {
    name: 'a new code is not marked as taken',
    patches: [
      {
        file: 'engine/redis/lua/codes.lua',
        from: "redis.call('SETBIT', TAKEN, index_of(code), 1) == 0",
        to: "redis.call('GETBIT', TAKEN, index_of(code)) == 0",
      },
    ],
    caughtBy: 'the pool is conserved',
    faults: [],
  },
  {
    name: 'a reference is given out again now and then',
    patches: [
      {
        file: 'reference/generator.js',
        from: "const [reference = ''] = await issue(itemType, 1);",
        to: `const again = createSource.last !== undefined && Math.random() < 0.3;
            const [reference = ''] = again ? createSource.last : await issue(itemType, 1);
            createSource.last = [reference];`,
      },
    ],
    caughtBy: 'no ref is issued twice',
    faults: [],
  },
  {
    name: 'leases of present members are not renewed',
    patches: [
      {
        file: SEATS,
        from: "  if seat.state == 'present' then\n    seat.leaseUntil = now + policy.leaseMs",
        to: "  if seat.state == 'nowhere' then\n    seat.leaseUntil = now + policy.leaseMs",
      },
    ],
    caughtBy: 'nobody who is there is told to have left',
    faults: [],
  },
  {
    name: 'a departure is written twice into the feed',
    patches: [
      {
        file: SEATS,
        from: '  append_feed_event(room, name, event)\nend',
        to: "  append_feed_event(room, name, event)\n  if name == 'member:left' then append_feed_event(room, name, event) end\nend",
      },
    ],
    caughtBy: 'a membership ends once',
    faults: [],
  },
  {
    name: 'events are lost, and a read answers without the room',
    patches: [
      { file: ANNOUNCE, from: EMIT, to: `if (body.rev % 5 !== 0) ${EMIT}` },
      {
        file: 'server/rooms/requests.js',
        from: 'return { ok: true, ref, rev: room.rev, room };',
        to: 'return { ok: true, ref, rev: room.rev };',
      },
    ],
    caughtBy: 'a gap of revisions is followed by a snapshot, and none runs backwards',
    faults: [],
  },
  {
    name: 'signals are sent twice now and then',
    patches: [onSignal('write(event); if (Math.random() < 0.1) write(event);')],
    caughtBy: 'signals of a pair come once and in order',
    faults: [],
  },
  {
    name: 'signals overtake each other',
    patches: [onSignal('setTimeout(() => write(event), Math.random() * 3_000);')],
    caughtBy: 'signals of a pair come once and in order',
    faults: [],
  },
  {
    name: 'one signal in twenty is acknowledged and dropped',
    patches: [onSignal('if (Math.random() > 0.05) write(event);')],
    caughtBy: 'acknowledged signals are received',
    faults: [],
  },
  {
    name: 'a signal goes to the member that connected before',
    patches: [onSignal('if (Session.last) writeEvent(Session.last.socket, event); Session.last = this; write(event);')],
    caughtBy: 'signals stay in their room',
    faults: [],
  },
  {
    name: 'signals are held back for twelve seconds',
    patches: [onSignal('setTimeout(() => write(event), 12_000);')],
    caughtBy: 'no signal is delivered late',
    faults: [],
  },
  {
    name: 'one request in twenty is not answered',
    patches: [
      {
        file: 'server/sockets/gateway.js',
        from: 'acknowledge?.(reply);',
        to: 'if (Math.random() > 0.05) acknowledge?.(reply);',
      },
    ],
    caughtBy: 'requests have an outcome after 5 s',
    faults: [],
  },
  {
    name: 'a departure is told as a lost connection',
    patches: [
      { file: ANNOUNCE, from: EMIT, to: EMIT.replace('(name,', "(name === 'member:left' ? 'member:away' : name,") },
    ],
    caughtBy: 'member lists equal the truth',
    faults: [],
  },
  {
    name: 'call records do not note departures',
    patches: [
      {
        file: 'records/reduce.js',
        from: 'return leave(draft, call, event.userId, event.reason);',
        to: 'return call;',
      },
    ],
    caughtBy: 'call records balance with the feed',
    faults: [],
  },
  {
    name: 'one webhook in ten is taken for delivered and not sent',
    patches: [
      {
        file: 'webhooks/dispatcher.js',
        from: 'await sender.send({ id: eventId, body });',
        to: "(Math.random() < 0.1 ? { kind: 'delivered' } : await sender.send({ id: eventId, body }));",
      },
    ],
    caughtBy: 'webhooks balance with the feed',
    faults: [],
  },
  {
    name: 'a lost connection to Redis ends the process',
    patches: [
      {
        file: 'engine/redis/index.js',
        from: 'watch?.runner.updateHealth();',
        to: 'watch?.runner.updateHealth(); if (!up && watch) setImmediate(() => process.exit(1));',
      },
    ],
    caughtBy: 'no process ends by itself',
    faults: ['redis-drop-connections-of-commands'],
  },
  {
    name: 'a refused create leaves its room behind',
    patches: [
      {
        file: 'server/rooms/create-room.js',
        from: 'const refused = await sitDown(context, session, { ok: true, room, events: [] }, epoch);',
        to: `if (Math.random() < 0.5) return refuse('DRAINING');
            const refused = await sitDown(context, session, { ok: true, room, events: [] }, epoch);`,
      },
      // Otherwise it would be gone before the clients are asked for the last time.
      {
        file: 'engine/redis/lua/tick.lua',
        from: 'more = reap(LEASES, reap_seat)',
        to: 'more = false',
      },
    ],
    caughtBy: 'no client has a seat that it does not show',
    faults: [],
  },
  {
    name: 'eight megabytes a second are never freed',
    patches: [
      {
        file: 'server/sessions/session-registry.js',
        from: 'export class SessionRegistry',
        to: `const kept = [];
          setInterval(() => kept.push(Buffer.alloc(4 * 2 ** 20, 1)), 500).unref();
          export class SessionRegistry`,
      },
    ],
    caughtBy: 'memory does not grow for ever',
    faults: [],
  },
  {
    name: 'ticks do not reap seats',
    patches: [
      {
        file: 'engine/redis/lua/tick.lua',
        from: 'more = reap(LEASES, reap_seat)',
        to: 'more = false',
      },
    ],
    caughtBy: 'everything is free in the end',
    faults: [],
  },
];
