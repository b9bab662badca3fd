/**
 * The short way of a signal. What two peers tell each other is nobody else's business, so an ordinary signal to a
 * member on this node is never taken apart and put together again: its data goes from frame to frame as the text it
 * came as, parsed once to be sure that it is JSON. Whatever is not of that kind takes the plain way, which knows what
 * to answer; where both apply, they do the same.
 */
import type { UserId } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Session } from '../sessions/session.ts';
import type { SessionRegistry } from '../sessions/session-registry.ts';

/** As `JSON.stringify` writes it, which is how nearly every client does. */
const SIGNAL = /^2(\d{0,15})\["signal",\{"to":"([A-Za-z0-9_-]{1,64})","data":/;
const END = '}]';
/** Written anew, a character becomes 6 bytes at most (`1e20` grows to 21 digits): these are surely not too many. */
const MAX_FAST_LENGTH = LIMITS.signalBytes / 6;

/** The payload of a signal, and the text of its data. To a schema it has two keys, like any other. */
export class RawSignal {
  readonly to: string;
  readonly data: unknown;
  readonly #text: string;

  /** @throws SyntaxError when the text is not JSON. */
  constructor(to: string, text: string) {
    this.to = to;
    this.data = JSON.parse(text);
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }
}

/** @returns `undefined` when the frame holds anything but an ordinary signal. */
export function readRawSignal(frame: string): { readonly id: string; readonly signal: RawSignal } | undefined {
  if (frame.length > MAX_FAST_LENGTH || !frame.endsWith(END)) return undefined;
  const [head, id, to] = SIGNAL.exec(frame) ?? [];
  if (head === undefined || id === undefined || to === undefined) return undefined;
  try {
    return { id, signal: new RawSignal(to, frame.slice(head.length, -END.length)) };
  } catch {
    return undefined;
  }
}

/** @returns whether the packet was a signal and has been handed over. */
export type FastRelay = (session: Session, packet: readonly unknown[]) => boolean;

export const createFastRelay =
  (registry: SessionRegistry): FastRelay =>
  (session, [, signal]) => {
    const { seat, userId } = session;
    if (seat === null || !(signal instanceof RawSignal)) return false;
    const room = registry.room(seat.ref);
    // No more than a look-up: nobody is found under what is not a user id.
    const target = room?.sessions.get(signal.to as UserId);
    if (room === undefined || target === undefined) return false;
    // Neither a user id nor a ref has a character that JSON would write otherwise.
    target.pushText(`["signal",{"from":"${userId}","data":${signal.text},"ref":"${seat.ref}"}]`);
    // What somebody tells themselves is handed on between no members.
    if (target !== session) room.signals += 1;
    return true;
  };
