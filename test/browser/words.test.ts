/** Texts of the page that can be tested without a browser. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Mesh, Peer, Room } from '../../src/client/index.ts';

beforeAll(() => {
  vi.stubGlobal('navigator', { languages: ['en'] });
});

afterAll(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('initials carry two accents at most', async () => {
  const { initialsOf } = await import('../../client-demo/src/texts/texts.ts');
  expect(initialsOf('Ada Lovelace')).toBe('AL');
  expect(initialsOf('élodie ångström')).toBe('ÉÅ');
  const zalgo = `z${'\u0301\u0302\u0316'.repeat(10)}a`;
  expect(Array.from(initialsOf(zalgo).normalize('NFD')).length).toBeLessThanOrEqual(4);
});

test('a stopped relay watch reports nothing about a mesh that is closing', async () => {
  const { TurnFaults } = await import('../../client-demo/src/call/turn-faults.ts');
  vi.useFakeTimers();
  const listeners = new Map<string, (value: unknown) => void>();
  const peers = new Map([['bob', { state: 'connecting', member: { state: 'present' } } as Peer]]);
  // As much of them as is looked at here.
  const mesh = {
    peers,
    on: (name: string, listener: (value: unknown) => void) => listeners.set(name, listener),
  } as unknown as Mesh;
  const room = { iceServers: [], on: () => () => undefined } as unknown as Room;
  const say = vi.fn();
  const watch = new TurnFaults(room, mesh, true, say);
  watch.stop();
  listeners.get('fault')?.({ url: 'turn:turn.example.org', code: 401, text: '' });
  listeners.get('gone')?.(peers.get('bob'));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(say).not.toHaveBeenCalled();
});
