/** Schemas of the API in addition to those of the protocol, and their names and descriptions in the document. */
import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../../protocol/errors.ts';
import { instant, member, roomCode, roomInfo, roomRef, roomSnapshot, userId } from '../../../protocol/snapshot.ts';

/** Metadata for the JSON Schema of a zod schema. A schema with an `id` becomes a named component of the document. */
export const schemaDocs = z.registry<{
  readonly id?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: undefined;
}>();

schemaDocs.add(roomSnapshot, { id: 'Room', description: 'A room with its members, at one revision.' });
schemaDocs.add(member, { id: 'Member', description: 'A member of a room.' });

export const listedRoom = roomInfo
  .extend({ memberCount: z.int().nonnegative() })
  .register(schemaDocs, { id: 'ListedRoom', description: 'A room without its members, and their number.' });

// Object.keys loses the type of the record's keys.
const codes = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];

export const problem = z
  .object({
    type: z.literal('about:blank'),
    title: z.string().register(schemaDocs, { description: 'Message for people: what is wrong, and where.' }),
    status: z.int(),
    code: z.enum(codes).register(schemaDocs, { description: 'Error code for programs, from a closed list.' }),
    retryable: z.boolean().register(schemaDocs, { description: 'Whether the same request may succeed later.' }),
    retryAfterMs: z
      .int()
      .nonnegative()
      .register(schemaDocs, {
        description: 'Milliseconds to wait before the next attempt, as in the header Retry-After.',
      })
      .exactOptional(),
  })
  .register(schemaDocs, {
    id: 'Problem',
    description: 'Problem details (RFC 9457) with an error code of the protocol.',
  });

const theCode = roomCode
  .clone()
  .register(schemaDocs, { description: 'Code of the room: the digits that people type to join.' });
const theRef = roomRef.clone().register(schemaDocs, {
  description: 'Ref of the room. If the code belongs to another room by now, the response is 409 CODE_EXPIRED.',
});

export const roomParams = z.object({ code: theCode });
export const memberParams = z.object({ code: theCode, userId });
export const refQuery = z.strictObject({ ref: theRef.exactOptional() });

/** A boolean in a query: `true` or `false`. */
export const booleanQuery = (description: string) =>
  z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .register(schemaDocs, { description });

interface IntegerBounds {
  readonly min: number;
  readonly max: number;
  /** For the document; the operation itself fills it in. */
  readonly default: number;
}

/** An integer in a query. */
export function integerQuery({ min, max, default: fallback }: IntegerBounds, description: string) {
  const expected = `must be an integer from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, expected)
    .transform(Number)
    .refine((value) => value >= min && value <= max, expected)
    .register(schemaDocs, {
      description: `${description} Default: ${fallback}.`,
      type: 'integer',
      minimum: min,
      maximum: max,
      pattern: undefined,
    });
}

export const cursorQuery = (description: string) => z.string().min(1).max(512).register(schemaDocs, { description });

/** An instant in a query: milliseconds since 1970, or ISO 8601 with its offset from UTC. */
export const instantQuery = (description: string) =>
  z
    .string()
    .max(40)
    .transform((text, context) => {
      const read = instant.safeParse(/^\d{1,16}$/.test(text) ? Number(text) : readIso(text));
      if (read.success) return read.data;
      context.addIssue({
        code: 'custom',
        message: 'must be milliseconds since 1970, or ISO 8601 such as 2026-01-31T09:00:00Z',
      });
      return z.NEVER;
    })
    .register(schemaDocs, {
      description: `${description} Milliseconds since 1970, or ISO 8601 such as 2026-01-31T09:00:00Z.`,
    });

const isoInstant = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);
/** A day begins at midnight UTC. */
const readIso = (text: string): number => (isoInstant.safeParse(text).success ? Date.parse(text) : Number.NaN);
