/** Prices one request: before it is done by the room as this node knows it, afterwards by the room in its answer. */
import type { RequestPayload } from '../../protocol/events.ts';
import type { RoomSnapshot } from '../../protocol/snapshot.ts';
import type { ServerContext } from '../context.ts';
import { PRICES } from '../limits/prices.ts';
import type { Session } from '../sessions/session.ts';
import type { Request } from './read-request.ts';

type Registry = Pick<ServerContext, 'registry'>;

export function priceOf({ registry }: Registry, session: Session, { name, payload }: Request): number {
  return tokens(name, payload, name === 'room:join' ? seatsOfJoined(registry, payload) : registry.seatsAround(session));
}

/**
 * Paid before the join as far as this node knows the room: who closes its connection after the answers could not be charged
 * any more. A room without a member here is not known.
 */
function seatsOfJoined(registry: ServerContext['registry'], payload: unknown): number {
  // The payload has been parsed by the schema of that very name.
  const room = registry.roomOfCode((payload as RequestPayload<'room:join'>).code);
  return room === undefined ? 1 : registry.seatsOf(room);
}

/** Remembers the number of members that the answer tells. @param price what has been paid: the price of a refusal too */
export function priceOfReply({ registry }: Registry, { name, payload }: Request, reply: object, price: number): number {
  // A room that is unchanged costs what one of one member costs: its seats have not been read.
  if (!('room' in reply)) return name === 'room:get' && 'rev' in reply ? tokens(name, payload, 1) : price;
  // No reply of the protocol has another `room`.
  const { ref, members } = reply.room as RoomSnapshot;
  registry.setSeats(ref, members.length);
  return tokens(name, payload, members.length);
}

const tokens = (name: Request['name'], payload: unknown, seats: number): number =>
  // The payload has been parsed by the schema of that very name.
  PRICES[name].of(payload as never, seats);
