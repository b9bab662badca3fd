/** Joins that meet the end of the room, on three nodes. */
import { expect, test } from 'vitest';
import { connectClient } from '../../support/client.ts';
import { startNodes } from '../../support/nodes.ts';

const ROUNDS = 15;

test('every join that was granted while the room was closed elsewhere hears room:closed', async () => {
  await using nodes = await startNodes({ kind: 'redis', count: 3 }, { freeMisses: 1_000_000 });
  await using host = await connectClient(nodes.url(0));
  const guests = await Promise.all([0, 1, 2, 1, 2].map((node) => connectClient(nodes.url(node))));
  const outcomes = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const { room } = await host.must('room:create');
    const joins = guests.map(async (guest, index) => {
      // Before, at, and after the close, as chance has it: some begin a few turns of the event loop later.
      for (let turn = 0; turn < (round + index) % 6; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      const reply = await guest.ask('room:join', { code: room.code });
      outcomes.add(reply.ok ? 'ok' : reply.error.code);
      if (reply.ok) await guest.next('room:closed', ({ ref }) => ref === room.ref);
    });
    await Promise.all([host.must('room:close'), ...joins]);
  }
  expect([...outcomes].filter((outcome) => !['ok', 'ROOM_NOT_FOUND', 'CODE_EXPIRED'].includes(outcome))).toEqual([]);
  for (const guest of guests) {
    expect(await guest.refused('room:get')).toBe('NOT_IN_ROOM');
    await guest[Symbol.asyncDispose]();
  }
});
