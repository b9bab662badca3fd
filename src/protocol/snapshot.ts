/** The schemas of a room and its members as clients see them. */
import { z } from 'zod';
import { nameProblem } from './display-name.ts';
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
import { hasPrototypeKey, PROTOTYPE_KEYS_REFUSED } from './prototype-keys.ts';

// A brand is assigned only here, right after its pattern has been checked.
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

/** A name for people: 1 to 64 code points, and every one of them is seen. See display-name.ts. */
export const displayName = z
  .string()
  .trim()
  .check((context) => {
    const problem = nameProblem(context.value);
    if (problem !== undefined) context.issues.push({ code: 'custom', message: problem, input: context.value });
  });

/** A word for programs, such as the kind of a room or what a member sends. */
export const word = z.string().regex(new RegExp(`^[A-Za-z0-9_-]{1,${LIMITS.wordLength}}$`));

/** Any JSON value. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** JSON that the server has checked already. */
export const anyJson = z.custom<Json>((value) => value !== undefined);

/** The issue of a value over its limit; `params.tooLarge` tells it from a missing one. */
export const tooLarge = (maxBytes: number) => ({
  message: `at most ${maxBytes} bytes of JSON`,
  params: { tooLarge: true },
});

/** Any JSON, opaque to the server: its depth and its values were counted before it was parsed, its size is checked here. */
export const json = (maxBytes: number) =>
  anyJson.refine((value) => new TextEncoder().encode(JSON.stringify(value)).byteLength <= maxBytes, tooLarge(maxBytes));

/** Any JSON that back ends can take. */
export const metadata = json(LIMITS.metadataBytes).refine((value) => !hasPrototypeKey(value), PROTOTYPE_KEYS_REFUSED);
export const maxUsers = z.int().min(LIMITS.maxUsers.min).max(LIMITS.maxUsers.max);

/** `open`: the code is enough to join. */
export const access = z.enum(['open']);

export const profile = z.strictObject({
  /** A name for people: 1 to 64 characters. */
  name: displayName.exactOptional(),
  /** The kind of media that the member sends, as one word for programs: `video`, `audio`, ... */
  mediaType: word.exactOptional(),
  /** At most 1 KiB of JSON. */
  metadata: metadata.exactOptional(),
});
/** The profile of a member, as the others see it. */
export type Profile = z.infer<typeof profile>;

export const member = z.object({
  /** Stays the same as long as the user reconnects with its resume token. */
  userId,
  /** A name for people; null without one. */
  name: z.string().nullable(),
  /** One host at most. */
  role: z.enum(['host', 'member']),
  /** `away`: its connection is lost, its seat is kept for the grace. */
  state: z.enum(['present', 'away']),
  /** Order of joining. Of two peers the one with the greater seq is polite and makes the first offer. */
  seq: z.int().positive(),
  /** Milliseconds since 1970, by the store's clock. */
  joinedAt: instant,
  /** The kind of media that it sends, as its profile says. */
  mediaType: z.string().exactOptional(),
  /** Set by the member, opaque to the server. */
  metadata: anyJson.exactOptional(),
});
/** A user with a seat in a room. */
export type Member = z.infer<typeof member>;

/** The settings and the identity of a room, without its members. */
export const roomInfo = z.object({
  /** The digits that people type to join; recycled when the room has ended. */
  code: roomCode,
  /** The room's own identity, never used again. */
  ref: roomRef,
  /** +1 for every change of the room or its members. */
  rev: revision,
  /** A name for people; null without one. */
  name: z.string().nullable(),
  /** The kind of the room, as one word for programs. */
  type: z.string(),
  /** How many seats it has. */
  maxUsers: z.int(),
  /** How a user may join. */
  access,
  /** Whether no new user may join. */
  locked: z.boolean(),
  /** Null while no present member can be host. */
  hostId: userId.nullable(),
  /** Milliseconds since 1970, by the store's clock. */
  createdAt: instant,
  /** The time of its maximum age, at which the room ends. */
  expiresAt: instant,
  /** Set by the host, opaque to the server. */
  metadata: anyJson.exactOptional(),
});
/** A room without its members. */
export type RoomInfo = z.infer<typeof roomInfo>;

export const roomSnapshot = roomInfo.extend({
  /** In the order of their seq. */
  members: z.array(member),
});
/** A room and its members, at one revision. */
export type RoomSnapshot = z.infer<typeof roomSnapshot>;
