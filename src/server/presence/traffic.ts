/** What a room sends through this node: bytes times members, those on other nodes included. */
import type { RoomRef, UserId } from '../../protocol/ids.ts';
import type { ServerContext } from '../context.ts';

type Counted = Pick<ServerContext, 'registry' | 'options' | 'clock'>;

/**
 * Takes what a message makes the server send, if the room may send it now.
 *
 * @param bytes to each member
 * @returns 0, or the milliseconds until it may
 */
export function takeTraffic({ registry, options, clock }: Counted, ref: RoomRef, from: UserId, bytes: number): number {
  const room = registry.room(ref);
  return room?.traffic.take(from, bytes * registry.seatsOf(room), options.roomBytesPerSecond, clock) ?? 0;
}

/** The same without taking, for a change whose event is counted when it is sent. */
export function waitForTraffic(
  { registry, options, clock }: Counted,
  ref: RoomRef,
  from: UserId,
  bytes: number,
): number {
  const room = registry.room(ref);
  return room?.traffic.wait(from, bytes * registry.seatsOf(room), options.roomBytesPerSecond, clock) ?? 0;
}

/** Counts what is sent in any case. */
export function chargeTraffic(
  { registry, options, clock }: Counted,
  ref: RoomRef,
  from: UserId | null,
  bytes: number,
): void {
  const room = registry.room(ref);
  room?.traffic.charge(from, bytes * registry.seatsOf(room), options.roomBytesPerSecond, clock);
}
