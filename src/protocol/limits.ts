/**
 * The limits of the protocol, for clients that are not connected yet: those that are fixed, and defaults of those that a
 * server announces in `welcome.limits`.
 */

export const PROTOCOL_VERSION = 1;

/** Fixed by the protocol, not options: both sides must agree on them. */
export const LIMITS = {
  /** Bytes of JSON in `signal.data`; white space and escapes do not count. */
  signalBytes: 64 * 1024,
  /** Bytes of JSON in `message.data`; white space and escapes do not count. */
  messageBytes: 4 * 1024,
  /** Bytes of JSON in a room's or a profile's `metadata`. */
  metadataBytes: 1024,
  /** Nesting of arrays and objects in `data` and `metadata`. */
  depth: 12,
  /** JSON values in a payload: objects, arrays, strings, numbers, `true`, `false` and `null`, the payload itself included. */
  values: 2000,
  /** Code points in a name. */
  nameLength: 64,
  /** Characters in a `type` or `mediaType`. */
  wordLength: 32,
  /** What a room's `maxUsers`, the number of its seats, may be, and what it is when left out. */
  maxUsers: { min: 2, max: 100, default: 8 },
} as const;
