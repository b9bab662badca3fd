/** Rooms: made, read, changed and ended by whoever runs the server, who has no seat in them and needs none. */
import { z } from 'zod';
import type { ErrorCode } from '../../../protocol/errors.ts';
import type { RoomRef } from '../../../protocol/ids.ts';
import { REQUESTS } from '../../../protocol/messages.ts';
import { roomSnapshot } from '../../../protocol/snapshot.ts';
import type { Create, Outcome } from '../../../room/commands.ts';
import type { ServerContext } from '../../context.ts';
import type { Seating } from '../../presence/membership.ts';
import { type Refused, refuse } from '../../replies.ts';
import type { CodeAllocator } from '../../rooms/code-allocator.ts';
import { roomChanges } from '../../rooms/payload-changes.ts';
import { EXAMPLES } from './examples.ts';
import { type About, done, NO_SUCH_MEMBER, NOTHING, type Operation, operation } from './operation.ts';
import type { RoomLookup } from './room-lookup.ts';
import { ofRoom, shown, thatRoom } from './schemas.ts';

const creation = REQUESTS['room:create'].payload.pick({
  name: true,
  type: true,
  maxUsers: true,
  access: true,
  metadata: true,
});

const idempotency = z.looseObject({
  'idempotency-key': z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, '1 to 64 letters, digits, - and _')
    .register(shown, { description: 'Sent again within ten minutes, by the same token, it gives the same room.' })
    .exactOptional(),
});

export const OF_ROOM = ['ROOM_NOT_FOUND', 'CODE_EXPIRED'] as const satisfies readonly ErrorCode[];

interface Parts {
  readonly context: ServerContext;
  readonly allocation: CodeAllocator;
  readonly seating: Seating;
  readonly finding: RoomLookup;
}

export const roomOperations = (parts: Parts): Operation[] => [
  creating(parts),
  reading(parts),
  changing(parts),
  ending(parts),
];

const creating = ({ context, allocation, finding }: Parts) =>
  operation({
    id: 'createRoom',
    method: 'POST',
    path: '/rooms',
    scope: 'write',
    tag: 'rooms',
    summary: 'Create a room',
    about:
      'Opens a room under a fresh code, with nobody in it: whoever joins first becomes its host. If nobody does within ' +
      '`roomEmptyMs`, five minutes unless the server is told otherwise, it ends.',
    headers: idempotency,
    body: creation,
    answer: {
      statuses: {
        201: 'The room has been created.',
        200: 'This key has created it before.',
      },
      body: roomSnapshot,
      headers: { Location: 'Where the room is: `/v1/rooms/{code}`.' },
      example: EXAMPLES.emptyRoom,
    },
    problems: ['CODE_EXPIRED', 'POOL_EXHAUSTED', 'REFERENCE_UNAVAILABLE'],
    example: {
      headers: { 'idempotency-key': 'appointment-4711' },
      body: { name: 'Consultation', type: 'call', maxUsers: 2, metadata: { appointment: 4711 } },
    },
    async run({ headers, body, token, requestId, note }) {
      const key = headers['idempotency-key'];
      // The generator gives what the pattern of a ref asks for.
      const ref = (await context.references.generate('room', {
        traceId: requestId,
        name: `api:${token.name}`,
      })) as RoomRef;
      const made = await allocation.create({
        ref,
        settings: { type: 'call', maxUsers: context.options.maxUsers, access: 'open', ...roomChanges(body) },
        // No user has a colon in its id: a receipt of theirs is never one of these.
        ...(key !== undefined && { idempotencyKey: `api:${token.name}:${key}` }),
      });
      if (!made.ok) return madeBefore(made, finding, note);
      note({ ref });
      context.references.record(ref);
      return done(201, made.room, { location: `/v1/rooms/${made.room.code}` });
    },
  });

type NotMade = Exclude<Awaited<ReturnType<CodeAllocator['create']>>, Extract<Outcome<Create>, { ok: true }>>;

async function madeBefore(made: NotMade, finding: RoomLookup, note: (about: About) => void) {
  if (made.reason === 'POOL_EXHAUSTED') return refuse('POOL_EXHAUSTED', made);
  note({ ref: made.ref });
  const found = await finding.read(made.code, made.ref);
  return found.ok ? done(200, found.room, { location: `/v1/rooms/${made.code}` }) : found;
}

const reading = ({ finding }: Parts) =>
  operation({
    id: 'readRoom',
    method: 'GET',
    path: '/rooms/{code}',
    scope: 'read',
    tag: 'rooms',
    summary: 'Read a room',
    about: 'The room that a code stands for now, and who is in it.',
    params: ofRoom,
    query: thatRoom,
    answer: { statuses: { 200: 'The room.' }, body: roomSnapshot, example: EXAMPLES.room },
    absent: 'ROOM_NOT_FOUND',
    problems: OF_ROOM,
    example: { params: { code: EXAMPLES.room.code } },
    async run({ params, query }) {
      const found = await finding.read(params.code, query.ref);
      return found.ok ? done(200, found.room) : found;
    },
  });

const changing = ({ context, seating, finding }: Parts) =>
  operation({
    id: 'updateRoom',
    method: 'PATCH',
    path: '/rooms/{code}',
    scope: 'write',
    tag: 'rooms',
    summary: 'Change a room',
    about: 'Changes what the room says of itself, or locks it; its members are told. What is not named stays as it is.',
    params: ofRoom,
    query: thatRoom,
    body: REQUESTS['room:update'].payload,
    answer: { statuses: { 200: 'The room as it is now.' }, body: roomSnapshot, example: EXAMPLES.room },
    absent: 'ROOM_NOT_FOUND',
    problems: OF_ROOM,
    example: { params: { code: EXAMPLES.room.code }, body: { name: 'Consultation', locked: true } },
    async run({ params, query, body, note }) {
      const room = await finding.ownerKey(params.code, query.ref, note);
      if (!room.ok) return room;
      const outcome = await context.engine.apply({
        kind: 'update',
        ...room.key,
        change: { of: 'room', to: roomChanges(body) },
      });
      if (!outcome.ok) return refused(outcome.reason);
      seating.fan(outcome.events);
      return done(200, outcome.room);
    },
  });

const ending = ({ context, seating, finding }: Parts) =>
  operation({
    id: 'closeRoom',
    method: 'DELETE',
    path: '/rooms/{code}',
    scope: 'write',
    tag: 'rooms',
    summary: 'Close a room',
    about: 'Ends the room for everyone in it; its code cools down before it is used again.',
    params: ofRoom,
    query: thatRoom,
    answer: { statuses: { 204: 'The room has ended.' } },
    absent: 'ROOM_NOT_FOUND',
    problems: OF_ROOM,
    example: { params: { code: EXAMPLES.room.code } },
    async run({ params, query, note }) {
      const room = await finding.ownerKey(params.code, query.ref, note);
      if (!room.ok) return room;
      const outcome = await context.engine.apply({ kind: 'close', ...room.key });
      if (!outcome.ok) return refused(outcome.reason);
      // In this order, as when a host closes it: who hears of the end has no seat in that room any more.
      seating.evict(outcome.evicted);
      seating.fan(outcome.events);
      return NOTHING;
    },
  });

/** What members are told of seats means nothing to who has none: to an owner, the room has ended meanwhile. */
export const refused = (reason: ErrorCode): Refused =>
  reason === 'PEER_NOT_FOUND' ? refuse(reason, { message: NO_SUCH_MEMBER }) : refuse('CODE_EXPIRED');
