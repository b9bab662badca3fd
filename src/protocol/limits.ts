/**
 * How much of anything there may be. The server tells its own values in `welcome.limits`; these are the defaults and
 * the fixed ones, usable by a client before it is connected.
 */

export const PROTOCOL_VERSION = 1;

/** Fixed by the protocol, not options: both sides must agree on them. */
export const LIMITS = {
  /** Bytes of JSON in `signal.data`. */
  signalBytes: 64 * 1024,
  /** Bytes of JSON in `message.data`. */
  messageBytes: 4 * 1024,
  /** Bytes of JSON in a room's or a profile's `metadata`. */
  metadataBytes: 1024,
  /** Nesting of arrays and objects in `data` and `metadata`. */
  depth: 12,
  /** Code points in a name. */
  nameLength: 64,
  /** Characters in a `type` or `mediaType`. */
  wordLength: 32,
  /** Members of a room. */
  maxUsersLeast: 2,
  maxUsersMost: 100,
  maxUsersDefault: 8,
} as const;

/** `["event", { data }]`: the envelope nests twice before the depth of `data` begins. */
export const ENVELOPE_DEPTH = 2;
