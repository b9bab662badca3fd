/**
 * The fast path of a signal. An ordinary signal to a member on this node is not decoded and encoded again: its data goes
 * from frame to frame as the text in which it came, parsed once to be sure that it is JSON. Everything else takes the
 * plain path, `rooms/relay.ts`, which also knows the refusals; for ordinary signals both do the same.
 */
import type { UserId } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { ServerContext } from '../context.ts';
import type { Session } from '../sessions/session.ts';

/** A `signal` event as `JSON.stringify` writes it, which nearly every client uses. */
const SIGNAL = /^2(\d{0,15})\["signal",\{"to":"([A-Za-z0-9_-]{1,64})","data":/;
const END = '}]';
/** Encoding grows a character to 6 bytes at most (`1e20` becomes 21 digits), so shorter frames keep the signal limit. */
const MAX_FAST_LENGTH = LIMITS.signalBytes / 6;

/** The payload of a signal with the text of its data. For a schema it has the two keys of any other. */
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

/** @returns `undefined` when the frame is anything but an ordinary signal. */
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

/** @returns whether the packet was a signal and has been handed to its receiver. */
export function relayFast(
  { registry, signals }: Pick<ServerContext, 'registry' | 'signals'>,
  session: Session,
  [, signal]: readonly unknown[],
): boolean {
  const { seat, userId } = session;
  if (seat === null || !(signal instanceof RawSignal)) return false;
  // Not validated: an invalid id finds no session.
  const target = registry.room(seat.ref)?.sessions.get(signal.to as UserId);
  if (target === undefined) return false;
  // Neither a user id nor a ref has a character that JSON escapes.
  target.pushText(`["signal",{"from":"${userId}","data":${signal.text},"ref":"${seat.ref}"}]`);
  // A signal to oneself connects no two members.
  if (target !== session) signals.count(seat.ref);
  return true;
}
