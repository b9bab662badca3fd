/** Operations on the members of a room: remove one, send a message to all. */
import { z } from 'zod';
import { LIMITS } from '../../../protocol/limits.ts';
import { roomRef } from '../../../protocol/snapshot.ts';
import type { ServerContext } from '../../context.ts';
import { jsonText } from '../../json/json-text.ts';
import { sendMessage } from '../../rooms/relay.ts';
import { kickMember } from '../../rooms/room-service.ts';
import { EXAMPLES } from './examples.ts';
import { type InputOf, NO_CONTENT, type Operation, operation, operationSpec, respond } from './operation.ts';
import type { RoomLookup } from './room-lookup.ts';
import { ownerRefusal, ROOM_PROBLEMS } from './rooms.ts';
import { booleanQuery, memberParams, refQuery, roomParams } from './schemas.ts';

interface MemberDeps {
  readonly context: ServerContext;
  readonly lookup: RoomLookup;
}

export const memberOperations = (deps: MemberDeps): Operation[] => [
  operation(REMOVE_MEMBER, (input) => runRemoveMember(deps, input)),
  operation(SEND_MESSAGE, (input) => runSendMessage(deps, input)),
];

const REMOVE_MEMBER = operationSpec({
  id: 'removeMember',
  method: 'DELETE',
  path: '/rooms/{code}/members/{userId}',
  scope: 'write',
  tag: 'members',
  summary: 'Remove or ban a member',
  description:
    'Removes a member, the host included, and closes its connection. When the host is removed, the next member becomes ' +
    'host, or the room ends (`closeOnHostLeave`).',
  params: memberParams,
  query: refQuery.extend({
    ban: booleanQuery('Whether to ban the user from this room until the room ends.').exactOptional(),
  }),
  response: { statuses: { 204: 'The member was removed.' } },
  notFoundCode: 'PEER_NOT_FOUND',
  problems: [...ROOM_PROBLEMS, 'PEER_NOT_FOUND'],
  example: { params: { code: EXAMPLES.room.code, userId: EXAMPLES.userId }, query: { ban: 'true' } },
});

async function runRemoveMember(
  { context, lookup }: MemberDeps,
  { params, query: { ref, ban = false }, setSubject }: InputOf<typeof REMOVE_MEMBER>,
) {
  const room = await lookup.ownerKey(params.code, ref, setSubject);
  if (!room.ok) return room;
  const outcome = await kickMember(context, room.key, params.userId, ban);
  return outcome.ok ? NO_CONTENT : ownerRefusal(outcome.reason);
}

const SEND_MESSAGE = operationSpec({
  id: 'sendMessage',
  method: 'POST',
  path: '/rooms/{code}/messages',
  scope: 'write',
  tag: 'members',
  summary: 'Send a message to all members of a room',
  description:
    'Members receive the push `message` with `from: null`. It reaches the members that are connected now, and is not stored.',
  params: roomParams,
  query: refQuery,
  body: z.strictObject({ data: jsonText(LIMITS.messageBytes) }),
  response: {
    statuses: { 202: 'The message was sent.' },
    body: z.object({ ref: roomRef }),
    example: { ref: EXAMPLES.room.ref },
  },
  notFoundCode: 'ROOM_NOT_FOUND',
  problems: ROOM_PROBLEMS,
  example: { params: { code: EXAMPLES.room.code }, body: { data: { text: 'This room closes in five minutes.' } } },
});

async function runSendMessage(
  { context, lookup }: MemberDeps,
  { params, query, body, setSubject }: InputOf<typeof SEND_MESSAGE>,
) {
  const room = await lookup.ownerKey(params.code, query.ref, setSubject);
  if (!room.ok) return room;
  const { ref } = room.key;
  await sendMessage(context, ref, null, body);
  return respond(202, { ref });
}
