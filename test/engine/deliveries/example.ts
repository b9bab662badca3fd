/** What the examples of deliveries share. */
import { expect } from 'vitest';
import { type DeliveryStage, ref, take } from '../deliveries-stage.ts';

export type Example = readonly [name: string, run: (stage: DeliveryStage) => Promise<void>];

export const DELIVERED = { kind: 'delivered' } as const;
export const GONE = { current: false, died: false, next: undefined };
export const idOf = (room: number, rev: number): string => `${ref(room)}:${rev}`;

/** Takes the one event that is due. */
export async function takeOne(stage: DeliveryStage) {
  const { deliveries } = await take(stage, { rooms: 1 });
  return deliveries[0] ?? expect.unreachable('nothing was due');
}
