import { expect, test } from 'vitest';
import { KeyedSemaphore } from '../../src/support/async/keyed-semaphore.ts';
import { systemClock, turn } from '../../src/support/clock.ts';

/** A task for each name, which runs until it is ended by its name. */
function tasks(semaphore: KeyedSemaphore) {
  const running = new Map<string, (error?: Error) => void>();
  const start = (key: string, name: string) =>
    semaphore.run(
      key,
      () =>
        new Promise<void>((resolve, reject) => {
          running.set(name, (error) => (error === undefined ? resolve() : reject(error)));
        }),
    );
  const end = async (name: string, error?: Error) => {
    running.get(name)?.(error);
    running.delete(name);
    await turn(systemClock);
  };
  return { start, end, running: () => [...running.keys()] };
}

test('as many tasks of a key run as its limit allows, in the order of their calls', async () => {
  const { start, end, running } = tasks(new KeyedSemaphore(() => 2));
  for (const name of ['a', 'b', 'c', 'd']) void start('key', name);
  expect(running()).toEqual(['a', 'b']);
  await end('b');
  expect(running()).toEqual(['a', 'c']);
  await end('a');
  expect(running()).toEqual(['c', 'd']);
});

test('keys do not wait for each other', () => {
  const { start, running } = tasks(new KeyedSemaphore(() => 1));
  void start('one', 'a');
  void start('other', 'b');
  expect(running()).toEqual(['a', 'b']);
});

test('one task runs however low the limit is', async () => {
  const { start, end, running } = tasks(new KeyedSemaphore(() => -3));
  void start('key', 'a');
  void start('key', 'b');
  expect(running()).toEqual(['a']);
  await end('a');
  expect(running()).toEqual(['b']);
});

test('a raised limit lets waiting tasks in when the next one ends', async () => {
  let limit = 1;
  const { start, end, running } = tasks(new KeyedSemaphore(() => limit));
  for (const name of ['a', 'b', 'c', 'd']) void start('key', name);
  limit = 2;
  await end('a');
  expect(running()).toEqual(['b', 'c']);
});

test('a task that fails makes room for the next', async () => {
  const { start, end, running } = tasks(new KeyedSemaphore(() => 1));
  const first = start('key', 'a');
  void start('key', 'b');
  const refused = expect(first).rejects.toThrow('on purpose');
  await end('a', new Error('on purpose'));
  await refused;
  expect(running()).toEqual(['b']);
});
