/**
 * What each request costs, in tokens of its connection's bucket: by what it makes the server and the store do, so that the
 * rate limit bounds work and not only requests. `docs/security.md` prints this table.
 */
import type { RequestName, RequestPayload } from '../../protocol/events.ts';
import type { JsonText, WithDataText } from '../json/json-text.ts';

/** So many members in an answer, or so many that are told of an event, cost one token. */
export const SEATS_PER_TOKEN = 8;
/** So many bytes that a message makes the server send cost one token. */
export const SENT_BYTES_PER_TOKEN = 32 * 1024;
/** So many bytes of a frame may be read for the token that every request costs; each further such part costs one. */
const FRAME_BYTES_PER_TOKEN = 16 * 1024;
/** Bytes that a pushed message has beside its data, and an event beside its body. */
export const ENVELOPE_BYTES = 128;

interface Price<Payload> {
  readonly about: string;
  /** @param seats members of the room that the request is about, as far as this node knows */
  readonly of: (payload: Payload, seats: number) => number;
}

export const PRICES: { readonly [Name in RequestName]: Price<WithDataText<RequestPayload<Name>>> } = {
  'room:create': { about: 'a room with one member', of: () => 1 },
  'room:join': {
    about: 'a snapshot, and an event to every member; leaving is paid with it',
    of: (_payload, seats) => 2 * tokensOf(seats),
  },
  'room:leave': { about: 'its event is paid by the join: leaving is always cheap', of: () => 1 },
  'room:get': { about: 'a snapshot; 1 when its `rev` is the present one', of: (_payload, seats) => tokensOf(seats) },
  'room:update': {
    about: 'a snapshot, and an event to every member',
    of: (_payload, seats) => 2 * tokensOf(seats),
  },
  'room:kick': { about: 'an event to every member', of: (_payload, seats) => tokensOf(seats) },
  'room:close': { about: 'an event to every member', of: (_payload, seats) => tokensOf(seats) },
  profile: { about: 'an event to every member', of: (_payload, seats) => tokensOf(seats) },
  signal: { about: 'a frame to one member', of: () => 1 },
  message: {
    about: `bytes × members, one token for ${SENT_BYTES_PER_TOKEN / 1024} KiB`,
    of: ({ data }, seats) => Math.ceil((sentBytes(data) * seats) / SENT_BYTES_PER_TOKEN) || 1,
  },
  heartbeat: { about: 'the record of a user, and its seat', of: () => 1 },
  ice: { about: 'credentials, computed by this node', of: () => 1 },
};

const tokensOf = (seats: number): number => Math.ceil(seats / SEATS_PER_TOKEN) || 1;

/** What a message makes the server send to each member. @param data of the message */
export const sentBytes = ({ bytes }: Pick<JsonText, 'bytes'>): number => bytes + ENVELOPE_BYTES;

/** What a frame costs beside the token of its request. */
export const frameTokens = (frame: string): number =>
  // A UTF-16 unit is three bytes of UTF-8 at most: most frames need not be measured.
  frame.length * 3 < FRAME_BYTES_PER_TOKEN ? 0 : Math.floor(Buffer.byteLength(frame) / FRAME_BYTES_PER_TOKEN);
