/** One after the other, as the queue of a session and a connection to a database need it. */
import { expect, test } from 'vitest';
import { Turns } from '../../src/support/turns.ts';

test('each waits for the one before, whatever becomes of that; who is alone waits for nobody', async () => {
  const turns = new Turns();
  const told: string[] = [];
  let end = () => {};
  const work = (name: string, until: Promise<void>) => async () => {
    told.push(`${name} begins`);
    await until;
    told.push(`${name} ends`);
    return name;
  };
  const first = turns.run(work('first', new Promise<void>((resolve) => (end = resolve))));
  expect(told).toEqual(['first begins']);
  const second = turns.run(async () => Promise.reject(new Error('on purpose')));
  const third = turns.run(work('third', Promise.resolve()));
  expect(turns.length).toBe(3);
  end();
  expect(await Promise.allSettled([first, second, third])).toMatchObject([
    { value: 'first' },
    { reason: { message: 'on purpose' } },
    { value: 'third' },
  ]);
  expect(told).toEqual(['first begins', 'first ends', 'third begins', 'third ends']);
  expect(turns.length).toBe(0);
});
