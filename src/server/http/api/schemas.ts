/** The shapes of the API beside those of the protocol, and how the document calls them. */
import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../../protocol/errors.ts';
import { instant, member, roomCode, roomInfo, roomRef, roomSnapshot, userId } from '../../../protocol/snapshot.ts';

/** What the document says of a schema beside what the schema says by itself. With an `id`, it is shown once, under it. */
export const shown = z.registry<{
  readonly id?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: undefined;
}>();

shown.add(roomSnapshot, { id: 'Room', description: 'A room and who is in it, at one revision.' });
shown.add(member, { id: 'Member', description: 'Somebody with a seat in a room.' });

export const listedRoom = roomInfo
  .extend({ memberCount: z.int().nonnegative() })
  .register(shown, { id: 'ListedRoom', description: 'What a room says of itself, and how many seats are taken.' });

// The record's own keys.
const codes = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];

export const problem = z
  .object({
    type: z.literal('about:blank'),
    title: z.string().register(shown, { description: 'For people: what is wrong, and where.' }),
    status: z.int(),
    code: z.enum(codes).register(shown, { description: 'For programs: one of a closed list.' }),
    retryable: z
      .boolean()
      .register(shown, { description: 'Whether the same request, sent again unchanged, may succeed.' }),
    retryAfterMs: z
      .int()
      .nonnegative()
      .register(shown, { description: 'When it may, in milliseconds; the header Retry-After says the same.' })
      .exactOptional(),
  })
  .register(shown, { id: 'Problem', description: 'RFC 9457, with the codes of the protocol.' });

const theCode = roomCode.clone().register(shown, { description: 'The digits that people type to join.' });
const theRef = roomRef.clone().register(shown, {
  description: 'That very room or none: when the code stands for another one by now, 409 CODE_EXPIRED.',
});

export const ofRoom = z.object({ code: theCode });
export const ofMember = z.object({ code: theCode, userId });
export const thatRoom = z.strictObject({ ref: theRef.exactOptional() });

/** `true` or `false`, as a query spells it. */
export const yesOrNo = (description: string) =>
  z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .register(shown, { description });

/** A whole number in a query. */
export const count = (least: number, most: number, fallback: number, description: string) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `a whole number from ${least} to ${most}`)
    .register(shown, {
      description: `${description} Unless given, ${fallback}.`,
      type: 'integer',
      minimum: least,
      maximum: most,
      pattern: undefined,
    });

export const cursor = (description = 'Where an earlier page ended, as it said.') =>
  z.string().min(1).max(512).register(shown, { description });

/** Milliseconds since 1970, or ISO 8601 with its offset from UTC. */
export const instantOf = (description: string) =>
  z
    .string()
    .max(40)
    .transform((text, context) => {
      const read = instant.safeParse(/^\d{1,16}$/.test(text) ? Number(text) : readIso(text));
      if (read.success) return read.data;
      context.addIssue({ code: 'custom', message: 'milliseconds since 1970, or such as 2026-01-31T09:00:00Z' });
      return z.NEVER;
    })
    .register(shown, { description: `${description} In milliseconds since 1970, or as in 2026-01-31T09:00:00Z.` });

const iso = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);
/** A day begins at midnight UTC. */
const readIso = (text: string): number => (iso.safeParse(text).success ? Date.parse(text) : Number.NaN);
