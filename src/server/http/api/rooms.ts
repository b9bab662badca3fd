/** Operations on rooms: create, read, update, close. The owner of the server acts without a seat in them. */
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
import {
  type AuditSubject,
  type InputOf,
  NO_CONTENT,
  NO_SUCH_MEMBER,
  type Operation,
  operation,
  operationSpec,
  respond,
} from './operation.ts';
import type { RoomLookup } from './room-lookup.ts';
import { refQuery, roomParams, schemaDocs } from './schemas.ts';

interface RoomDeps {
  readonly context: ServerContext;
  readonly allocator: CodeAllocator;
  readonly lookup: RoomLookup;
}

export const roomOperations = (deps: RoomDeps): Operation[] => [
  operation(CREATE_ROOM, (input) => runCreateRoom(deps, input)),
  operation(READ_ROOM, (input) => runReadRoom(deps, input)),
  operation(UPDATE_ROOM, (input) => runUpdateRoom(deps, input)),
  operation(CLOSE_ROOM, (input) => runCloseRoom(deps, input)),
];

export const ROOM_PROBLEMS = ['ROOM_NOT_FOUND', 'CODE_EXPIRED'] as const satisfies readonly ErrorCode[];

const createRoomBody = REQUESTS['room:create'].payload.pick({
  name: true,
  type: true,
  maxUsers: true,
  access: true,
  metadata: true,
});

const createRoomHeaders = z.looseObject({
  'idempotency-key': z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, '1 to 64 letters, digits, - and _')
    .register(schemaDocs, {
      description: 'A repeated request with the same key and token, within ten minutes, returns the same room.',
    })
    .exactOptional(),
});

const CREATE_ROOM = operationSpec({
  id: 'createRoom',
  method: 'POST',
  path: '/rooms',
  scope: 'write',
  tag: 'rooms',
  summary: 'Create a room',
  description:
    'Creates a room with a new code and no members. The first user to join becomes its host. If nobody joins within ' +
    '`roomEmptyMs` (default: five minutes), the room ends.',
  headers: createRoomHeaders,
  body: createRoomBody,
  response: {
    statuses: {
      201: 'The room was created.',
      200: 'An earlier request with the same key created the room.',
    },
    body: roomSnapshot,
    headers: { Location: 'Path of the room: `/v1/rooms/{code}`.' },
    example: EXAMPLES.emptyRoom,
  },
  problems: ['CODE_EXPIRED', 'POOL_EXHAUSTED', 'REFERENCE_UNAVAILABLE'],
  example: {
    headers: { 'idempotency-key': 'appointment-4711' },
    body: { name: 'Consultation', type: 'call', maxUsers: 2, metadata: { appointment: 4711 } },
  },
});

async function runCreateRoom(
  { context, allocator, lookup }: RoomDeps,
  { headers, body, token, requestId, setSubject }: InputOf<typeof CREATE_ROOM>,
) {
  const owner = { name: token.name, requestId, idempotencyKey: headers['idempotency-key'] };
  const created = await createForOwner({ context, allocator }, owner, body);
  if (!created.ok) return roomNotCreated(created, lookup, setSubject);
  const { code, ref } = created.room;
  setSubject({ ref });
  return respond(201, created.room, { location: `/v1/rooms/${code}` });
}

/** Answers with the existing room when the idempotency key was used before. */
async function roomNotCreated(
  result: Extract<AllocationResult, { ok: false }>,
  lookup: RoomLookup,
  setSubject: (subject: AuditSubject) => void,
) {
  if (result.reason === 'POOL_EXHAUSTED') return refuse('POOL_EXHAUSTED', result);
  const { code, ref } = result;
  setSubject({ ref });
  const found = await lookup.read(code, ref);
  return found.ok ? respond(200, found.room, { location: `/v1/rooms/${code}` }) : found;
}

const READ_ROOM = operationSpec({
  id: 'readRoom',
  method: 'GET',
  path: '/rooms/{code}',
  scope: 'read',
  tag: 'rooms',
  summary: 'Read a room',
  description: 'Returns the room that has this code now, with its members.',
  params: roomParams,
  query: refQuery,
  response: { statuses: { 200: 'The room.' }, body: roomSnapshot, example: EXAMPLES.room },
  notFoundCode: 'ROOM_NOT_FOUND',
  problems: ROOM_PROBLEMS,
  example: { params: { code: EXAMPLES.room.code } },
});

async function runReadRoom({ lookup }: RoomDeps, { params, query }: InputOf<typeof READ_ROOM>) {
  const found = await lookup.read(params.code, query.ref);
  return found.ok ? respond(200, found.room) : found;
}

const UPDATE_ROOM = operationSpec({
  id: 'updateRoom',
  method: 'PATCH',
  path: '/rooms/{code}',
  scope: 'write',
  tag: 'rooms',
  summary: 'Change a room',
  description: 'Changes properties of the room, or locks it, and notifies its members. Omitted fields stay unchanged.',
  params: roomParams,
  query: refQuery,
  body: REQUESTS['room:update'].payload,
  response: { statuses: { 200: 'The room after the change.' }, body: roomSnapshot, example: EXAMPLES.room },
  notFoundCode: 'ROOM_NOT_FOUND',
  problems: ROOM_PROBLEMS,
  example: { params: { code: EXAMPLES.room.code }, body: { name: 'Consultation', locked: true } },
});

async function runUpdateRoom(
  { context, lookup }: RoomDeps,
  { params, query, body, setSubject }: InputOf<typeof UPDATE_ROOM>,
) {
  const room = await lookup.ownerKey(params.code, query.ref, setSubject);
  if (!room.ok) return room;
  const outcome = await updateRoom(context, room.key, roomChanges(body));
  return outcome.ok ? respond(200, outcome.room) : ownerRefusal(outcome.reason);
}

const CLOSE_ROOM = operationSpec({
  id: 'closeRoom',
  method: 'DELETE',
  path: '/rooms/{code}',
  scope: 'write',
  tag: 'rooms',
  summary: 'Close a room',
  description: 'Ends the room for all members. Its code is not reused before the end of its cooldown.',
  params: roomParams,
  query: refQuery,
  response: { statuses: { 204: 'The room has ended.' } },
  notFoundCode: 'ROOM_NOT_FOUND',
  problems: ROOM_PROBLEMS,
  example: { params: { code: EXAMPLES.room.code } },
});

async function runCloseRoom({ context, lookup }: RoomDeps, { params, query, setSubject }: InputOf<typeof CLOSE_ROOM>) {
  const room = await lookup.ownerKey(params.code, query.ref, setSubject);
  if (!room.ok) return room;
  const outcome = await closeRoom(context, room.key);
  return outcome.ok ? NO_CONTENT : ownerRefusal(outcome.reason);
}

/** Translates refusals about a seat: the owner has none, so they mean that the room has ended meanwhile. */
export const ownerRefusal = (reason: ErrorCode): Refused =>
  reason === 'PEER_NOT_FOUND' ? refuse(reason, { message: NO_SUCH_MEMBER }) : refuse('CODE_EXPIRED');
