/** Operations on rooms: create, read, update, close. The owner of the server needs no seat in them. */
import { z } from 'zod';
import type { ErrorCode } from '../../../protocol/errors.ts';
import { REQUESTS } from '../../../protocol/messages.ts';
import { roomSnapshot } from '../../../protocol/snapshot.ts';
import type { ServerContext } from '../../context.ts';
import { type Refused, refuse } from '../../replies.ts';
import type { AllocationResult, CodeAllocator } from '../../rooms/code-allocator.ts';
import { createForOwner } from '../../rooms/create-room.ts';
import { roomChanges } from '../../rooms/payload-changes.ts';
import { closeRoom, updateRoom } from '../../rooms/room-service.ts';
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

interface RoomDeps {
  readonly context: ServerContext;
  readonly allocator: CodeAllocator;
  readonly lookup: RoomLookup;
}

export const roomOperations = (deps: RoomDeps): Operation[] => [
  creating(deps),
  reading(deps),
  changing(deps),
  ending(deps),
];

const creating = ({ context, allocator, lookup }: RoomDeps) =>
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
      const owner = { name: token.name, requestId, idempotencyKey: headers['idempotency-key'] };
      const created = await createForOwner({ context, allocator }, owner, body);
      if (!created.ok) return notCreated(created, lookup, note);
      const { code, ref } = created.room;
      note({ ref });
      return done(201, created.room, { location: `/v1/rooms/${code}` });
    },
  });

async function notCreated(
  result: Extract<AllocationResult, { ok: false }>,
  lookup: RoomLookup,
  note: (about: About) => void,
) {
  if (result.reason === 'POOL_EXHAUSTED') return refuse('POOL_EXHAUSTED', result);
  const { code, ref } = result;
  note({ ref });
  const found = await lookup.read(code, ref);
  return found.ok ? done(200, found.room, { location: `/v1/rooms/${code}` }) : found;
}

const reading = ({ lookup }: RoomDeps) =>
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
      const found = await lookup.read(params.code, query.ref);
      return found.ok ? done(200, found.room) : found;
    },
  });

const changing = ({ context, lookup }: RoomDeps) =>
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
      const room = await lookup.ownerKey(params.code, query.ref, note);
      if (!room.ok) return room;
      const outcome = await updateRoom(context, room.key, roomChanges(body));
      if (!outcome.ok) return refused(outcome.reason);
      return done(200, outcome.room);
    },
  });

const ending = ({ context, lookup }: RoomDeps) =>
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
      const room = await lookup.ownerKey(params.code, query.ref, note);
      if (!room.ok) return room;
      const outcome = await closeRoom(context, room.key);
      if (!outcome.ok) return refused(outcome.reason);
      return NOTHING;
    },
  });

/** A refusal that speaks of a seat, as the owner is answered, who has none: the room has ended meanwhile. */
export const refused = (reason: ErrorCode): Refused =>
  reason === 'PEER_NOT_FOUND' ? refuse(reason, { message: NO_SUCH_MEMBER }) : refuse('CODE_EXPIRED');
