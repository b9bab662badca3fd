/** Shared by the examples of the webhook queue. */
import { expect } from 'vitest';
import { claim, type QueueHarness, ref } from '../harness.ts';

export type Example = readonly [name: string, run: (harness: QueueHarness) => Promise<void>];

export const DELIVERED = { kind: 'delivered' } as const;
export const GONE = { current: false, dead: false, next: undefined };
export const idOf = (room: number, rev: number): string => `${ref(room)}:${rev}`;

/** Claims the only event that is due. */
export async function claimOne(harness: QueueHarness) {
  const { deliveries } = await claim(harness, { maxRooms: 1 });
  return deliveries[0] ?? expect.unreachable('no event was due');
}
