/** Operations on the members of a room: remove one, send a message to all. */
import { z } from 'zod';
import { LIMITS } from '../../../protocol/limits.ts';
import { json, roomRef } from '../../../protocol/snapshot.ts';
import type { ServerContext } from '../../context.ts';
import { sendMessage } from '../../rooms/relay.ts';
import { kickMember } from '../../rooms/room-service.ts';
import { EXAMPLES } from './examples.ts';
import { done, NOTHING, type Operation, operation } from './operation.ts';
import type { RoomLookup } from './room-lookup.ts';
import { OF_ROOM, refused } from './rooms.ts';
import { ofMember, ofRoom, thatRoom, yesOrNo } from './schemas.ts';

interface MemberDeps {
  readonly context: ServerContext;
  readonly lookup: RoomLookup;
}

export const memberOperations = (deps: MemberDeps): Operation[] => [removing(deps), telling(deps)];

const removing = ({ context, lookup }: MemberDeps) =>
  operation({
    id: 'removeMember',
    method: 'DELETE',
    path: '/rooms/{code}/members/{userId}',
    scope: 'write',
    tag: 'members',
    summary: 'Remove a member, or ban it',
    about:
      'Takes the seat of a member away, the host’s too, and closes its connection. After a host the next one becomes host, ' +
      'or the room ends (`closeOnHostLeave`).',
    params: ofMember,
    query: thatRoom.extend({
      ban: yesOrNo('Whether it may not join this room again, for as long as the room lives.').exactOptional(),
    }),
    answer: { statuses: { 204: 'The member is out.' } },
    absent: 'PEER_NOT_FOUND',
    problems: [...OF_ROOM, 'PEER_NOT_FOUND'],
    example: { params: { code: EXAMPLES.room.code, userId: EXAMPLES.userId }, query: { ban: 'true' } },
    async run({ params, query: { ref, ban = false }, note }) {
      const room = await lookup.ownerKey(params.code, ref, note);
      if (!room.ok) return room;
      const outcome = await kickMember(context, room.key, params.userId, ban);
      return outcome.ok ? NOTHING : refused(outcome.reason);
    },
  });

const telling = ({ context, lookup }: MemberDeps) =>
  operation({
    id: 'sendMessage',
    method: 'POST',
    path: '/rooms/{code}/messages',
    scope: 'write',
    tag: 'members',
    summary: 'Say something to everyone in a room',
    about:
      'Members get it as the push `message`, whose `from` is null. It is sent to whoever is connected now, and kept for nobody.',
    params: ofRoom,
    query: thatRoom,
    body: z.strictObject({ data: json(LIMITS.messageBytes) }),
    answer: {
      statuses: { 202: 'It is on its way.' },
      body: z.object({ ref: roomRef }),
      example: { ref: EXAMPLES.room.ref },
    },
    absent: 'ROOM_NOT_FOUND',
    problems: OF_ROOM,
    example: { params: { code: EXAMPLES.room.code }, body: { data: { text: 'This room closes in five minutes.' } } },
    async run({ params, query, body, note }) {
      const room = await lookup.ownerKey(params.code, query.ref, note);
      if (!room.ok) return room;
      const { ref } = room.key;
      await sendMessage(context, ref, null, body);
      return done(202, { ref });
    },
  });
