/** The replies of the scripts, decoded by schema. */
import { z } from 'zod';
import type { FeedEvent } from '../../protocol/feed.ts';
import type { DeadLetter, Delivery, QueueStats } from './queue.ts';

const delivery = z.object({
  roomQueue: z.string(),
  eventId: z.string(),
  body: z.string(),
  failures: z.int().nonnegative(),
  claimToken: z.int().positive(),
}) satisfies z.ZodType<Delivery>;

export const claimReply = jsonReply(
  z.object({ deliveries: z.array(delivery), more: z.boolean(), lost: z.int().nonnegative(), now: z.int() }),
);
export const completeReply = jsonReply(
  z.object({ current: z.boolean(), dead: z.boolean(), next: delivery.optional() }),
);
export const replayReply = jsonReply(z.object({ replayed: z.int(), upTo: z.int().optional() }));

const stats = z.object({
  pending: z.int(),
  dead: z.int(),
  dropped: z.int(),
  lost: z.int(),
  lastError: z.object({ reason: z.string(), at: z.int() }).optional(),
  lastDeliveredAt: z.int().optional(),
});
export const statsReply = jsonReply(stats);

/** The start of the next page ('' at the end), then the letters. */
export const deadLettersReply = (reply: unknown): [left: string, ...letters: string[]] =>
  z.tuple([z.string()], z.string()).parse(reply);

const attempts = z.object({ attempts: z.int(), reason: z.string(), at: z.int() });

/** Stored format: attempts JSON, LF, event. */
export function parseDeadLetter(text: string): DeadLetter {
  const end = text.indexOf('\n');
  // Not checked by a schema: scripts of another version may have written it, and operators should see every dead letter.
  const event = JSON.parse(text.slice(end + 1)) as FeedEvent;
  return { event, ...attempts.parse(JSON.parse(text.slice(0, end))) };
}

export const sum = (figures: readonly number[]): number => figures.reduce((total, figure) => total + figure, 0);

/** The figures of all partitions together. */
export function sumOf(partitions: readonly z.infer<typeof stats>[]): QueueStats {
  const total = (name: 'pending' | 'dead' | 'dropped' | 'lost') => sum(partitions.map((figures) => figures[name]));
  const errors = partitions.flatMap(({ lastError }) => lastError ?? []);
  const delivered = partitions.flatMap(({ lastDeliveredAt }) => lastDeliveredAt ?? []);
  return {
    pending: total('pending'),
    dead: total('dead'),
    dropped: total('dropped'),
    lost: total('lost'),
    lastError: errors.toSorted((a, b) => b.at - a.at)[0],
    lastDeliveredAt: delivered.length === 0 ? undefined : Math.max(...delivered),
  };
}

function jsonReply<T>(schema: z.ZodType<T>): (reply: unknown) => T {
  const text = z.string();
  return (reply) => schema.parse(JSON.parse(text.parse(reply)));
}
