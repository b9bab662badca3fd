/** The laws of deliveries, as a table of examples for every store. There are no opt-outs. */
import { expect } from 'vitest';
import { LEAST_ATTEMPTS, MOST_DEAD, MOST_READ } from '../../src/engine/deliveries.ts';
import type { Example } from './deliveries/example.ts';
import { deadLetters, failures } from './deliveries/failures.ts';
import { leases } from './deliveries/leases.ts';
import { bounds, queues } from './deliveries/queues.ts';
import { type DeliveryStage, event, failed, settle, take, takeIds } from './deliveries-stage.ts';

export const deliveriesContract: Readonly<Record<string, readonly Example[]>> = {
  queues,
  leases,
  failures,
  'dead letters': deadLetters,
  bounds,
};

/** Too many to be played on each store more than once. */
export async function buriesTheNewest(stage: DeliveryStage): Promise<void> {
  await takeIds(stage);
  const surplus = 3;
  const count = MOST_DEAD + surplus;
  for (let room = 0; room < count; room += MOST_READ) {
    const rooms = Array.from({ length: Math.min(MOST_READ, count - room) }, (_, index) => room + index);
    await stage.tell(...rooms.map((number) => event(number, 0)));
    for (let attempt = 0; attempt < LEAST_ATTEMPTS; attempt += 1) {
      const { deliveries } = await take(stage, { rooms: MOST_READ });
      await Promise.all(deliveries.map((one) => settle(stage, one, failed(0, 0))));
    }
  }
  expect(await stage.deliveries.figures('first')).toMatchObject({ pending: 0, dead: MOST_DEAD, dropped: surplus });
  expect(await stage.deliveries.replay('first')).toBe(MOST_DEAD);
  expect(await stage.deliveries.figures('first')).toMatchObject({ pending: MOST_DEAD, dead: 0 });
}
