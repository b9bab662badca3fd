/**
 * The fast path of a signal. An ordinary signal to a member on this node is recognised by the beginning of its frame, and
 * written to its receiver without a schema and without a promise. Everything else takes the plain path,
 * `rooms/relay.ts`, which also knows the refusals. Both hand on the same text.
 */
import type { UserId } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { ServerContext } from '../context.ts';
import { JsonText } from '../json/json-text.ts';
import { eventText } from '../rooms/relay.ts';
import type { Session } from '../sessions/session.ts';

/** A `signal` event as `JSON.stringify` writes it, which nearly every client uses. */
const SIGNAL = /^2(\d{0,15})\["signal",\{"to":"([A-Za-z0-9_-]{1,64})","data":/;
const END = '}]';

/** The payload of an ordinary signal. A class, to tell it from payloads that a schema has to check. */
export class RawSignal {
  readonly to: string;
  readonly data: JsonText;

  constructor(to: string, data: JsonText) {
    this.to = to;
    this.data = data;
  }
}

/** @returns `undefined` when the frame is anything but an ordinary signal; `id` of the acknowledgement, '' without one. */
export function readRawSignal(frame: string): { readonly id: string; readonly signal: RawSignal } | undefined {
  if (!frame.endsWith(END)) return undefined;
  const [head, id, to] = SIGNAL.exec(frame) ?? [];
  if (head === undefined || id === undefined || to === undefined) return undefined;
  const text = frame.slice(head.length, -END.length);
  try {
    // The text must be one JSON value: with it, the whole frame is what its beginning says.
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return { id, signal: new RawSignal(to, new JsonText(text.trim())) };
}

/** @returns whether the packet was a signal and has been handed to its receiver. */
export function relayFast(
  { registry, signals }: Pick<ServerContext, 'registry' | 'signals'>,
  session: Session,
  [, signal]: readonly unknown[],
): boolean {
  const { seat, userId } = session;
  if (seat === null || !(signal instanceof RawSignal) || !signal.data.isWithin(LIMITS.signalBytes)) return false;
  // Not validated: an invalid id finds no session.
  const target = registry.room(seat.ref)?.sessions.get(signal.to as UserId);
  if (target === undefined) return false;
  // The plain path knows what to do with a connection that is closing.
  if (!target.pushText(eventText('signal', userId, signal.data, seat.ref))) return false;
  // A signal to oneself connects no two members.
  if (target !== session) signals.count(seat.ref);
  return true;
}
