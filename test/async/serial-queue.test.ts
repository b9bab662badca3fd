/** Serial queue: one task at a time, as a session's requests and a connection to a database need it. */
import { expect, test } from 'vitest';
import { SerialQueue } from '../../src/support/async/serial-queue.ts';

test('each task waits for the one before, however that ends; a lone task waits for nobody', async () => {
  const queue = new SerialQueue();
  const told: string[] = [];
  let end = () => {};
  const task = (name: string, until: Promise<void>) => async () => {
    told.push(`${name} begins`);
    await until;
    told.push(`${name} ends`);
    return name;
  };
  const first = queue.run(task('first', new Promise<void>((resolve) => (end = resolve))));
  expect(told).toEqual(['first begins']);
  const second = queue.run(async () => Promise.reject(new Error('on purpose')));
  const third = queue.run(task('third', Promise.resolve()));
  expect(queue.length).toBe(3);
  end();
  expect(await Promise.allSettled([first, second, third])).toMatchObject([
    { value: 'first' },
    { reason: { message: 'on purpose' } },
    { value: 'third' },
  ]);
  expect(told).toEqual(['first begins', 'first ends', 'third begins', 'third ends']);
  expect(queue.length).toBe(0);
});
