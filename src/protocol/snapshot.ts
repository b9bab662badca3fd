/** What a client sees of a room and its members. */
import { z } from 'zod';
import {
  ROOM_CODE_PATTERN,
  ROOM_REF_PATTERN,
  type RoomCode,
  type RoomRef,
  type SessionNumber,
  USER_ID_PATTERN,
  type UserId,
} from './ids.ts';
import { LIMITS } from './limits.ts';

// Each brand is given where its pattern has just been checked, and nowhere else.
export const roomCode = z
  .string()
  .regex(ROOM_CODE_PATTERN)
  .transform((text) => text as RoomCode);
export const roomRef = z
  .string()
  .regex(ROOM_REF_PATTERN)
  .transform((text) => text as RoomRef);
export const userId = z
  .string()
  .regex(USER_ID_PATTERN)
  .transform((text) => text as UserId);
export const sessionNumber = z
  .int()
  .positive()
  .transform((value) => value as SessionNumber);

/** Milliseconds since 1970, by the store's clock. */
export const instant = z.int().nonnegative();
/** Milliseconds. */
export const duration = z.int().nonnegative();
export const revision = z.int().nonnegative();

/** Control characters, and those that turn the direction of whatever text comes after the name. */
const UNREADABLE = /[\p{Control}\u202a-\u202e\u2066-\u2069]/u;
/** Neither blank, nor a mark without width, nor a filler that shows nothing. */
const VISIBLE = /[^\p{Separator}\p{Format}\p{Unassigned}\p{Default_Ignorable_Code_Point}]/u;

/** What people read: no control characters, no half of a surrogate pair, at most 64 code points. */
export const displayName = z
  .string()
  .trim()
  .refine(
    (text) => text.length > 0 && Array.from(text).length <= LIMITS.nameLength,
    `1 to ${LIMITS.nameLength} characters`,
  )
  .refine((text) => text.isWellFormed() && !UNREADABLE.test(text), 'no control characters')
  .refine((text) => VISIBLE.test(text), 'something to see');

/** A word for programs, such as the kind of a room or what a member sends. */
export const word = z.string().regex(new RegExp(`^[A-Za-z0-9_-]{1,${LIMITS.wordLength}}$`));

/** Whatever JSON can hold. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** JSON that the server itself has already let in. */
export const anyJson = z.custom<Json>((value) => value !== undefined);

/**
 * Any JSON, opaque to the server: its depth was checked before it was parsed, its size is checked here. An issue with
 * `params.tooLarge` tells what is too large from what is not there.
 */
export const json = (maxBytes: number) =>
  anyJson.refine((value) => new TextEncoder().encode(JSON.stringify(value)).byteLength <= maxBytes, {
    message: `at most ${maxBytes} bytes of JSON`,
    params: { tooLarge: true },
  });

export const metadata = json(LIMITS.metadataBytes);
export const maxUsers = z.int().min(LIMITS.maxUsers.min).max(LIMITS.maxUsers.max);

/** `open`: whoever has the code gets in. (`pin`, `invite` and `lobby` take their place here.) */
export const access = z.enum(['open']);

export const profile = z.strictObject({
  /** What people read: 1 to 64 characters. */
  name: displayName.exactOptional(),
  /** What is sent, as one word for programs: `video`, `audio`, ... */
  mediaType: word.exactOptional(),
  /** At most 1 KiB of JSON. */
  metadata: metadata.exactOptional(),
});
/** What the others see of a member. */
export type Profile = z.infer<typeof profile>;

export const member = z.object({
  /** The same for as long as the user comes back with its resume token. */
  userId,
  /** What people read; null when it has said none. */
  name: z.string().nullable(),
  /** One host at most. */
  role: z.enum(['host', 'member']),
  /** `away`: its connection is lost, its seat is kept for the grace. */
  state: z.enum(['present', 'away']),
  /** Order of joining. Of two peers the one with the greater seq is polite and makes the first offer. */
  seq: z.int().positive(),
  /** Milliseconds since 1970, by the store's clock. */
  joinedAt: instant,
  /** The kind of media that it sends, in its own word. */
  mediaType: z.string().exactOptional(),
  /** Set by the member, opaque to the server. */
  metadata: anyJson.exactOptional(),
});
/** Somebody with a seat in a room. */
export type Member = z.infer<typeof member>;

/** What a room says of itself, apart from who is in it. */
export const roomInfo = z.object({
  /** The digits that people type to join; recycled when the room has ended. */
  code: roomCode,
  /** The room's own identity, never used again. */
  ref: roomRef,
  /** +1 for every change of the room or its members. */
  rev: revision,
  /** What people read; null when it has none. */
  name: z.string().nullable(),
  /** What it is for, as one word for programs. */
  type: z.string(),
  /** How many seats it has. */
  maxUsers: z.int(),
  /** Who gets in. */
  access,
  /** Whether no new user may join. */
  locked: z.boolean(),
  /** Null for a moment, when nobody is there to be host. */
  hostId: userId.nullable(),
  /** Milliseconds since 1970, by the store's clock. */
  createdAt: instant,
  /** When the room ends at the latest. */
  expiresAt: instant,
  /** Set by the host, opaque to the server. */
  metadata: anyJson.exactOptional(),
});
/** What a room says of itself. */
export type RoomInfo = z.infer<typeof roomInfo>;

export const roomSnapshot = roomInfo.extend({
  /** In the order of their seq. */
  members: z.array(member),
});
/** A room and who is in it, at one revision. */
export type RoomSnapshot = z.infer<typeof roomSnapshot>;
