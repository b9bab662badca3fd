/** A node whose event loop stands still longer than its deadlines, while Redis is well: answers that are there are not missed. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { connectClient } from '../../support/client.ts';
import { startFleet } from '../../support/fleet.ts';

/** Longer than the deadline of a command. */
const STALL_MS = 1900;
const GUESTS = 20;

test('guests of a node that stood still while they joined are gone once they have left', async () => {
  await using fleet = await startFleet(2, { userTtlMs: 600_000, tickMs: 60_000 });
  const host = await connectClient(fleet.node(0).url);
  const { room } = await host.must('room:create', { maxUsers: 30 });
  const guests = await Promise.all(Array.from({ length: GUESTS }, () => connectClient(fleet.node(1).url)));
  const { child } = fleet.node(1);
  const asked = guests.map((guest) => guest.ask('room:join', { code: room.code }));
  // Somewhere in the middle of the joins.
  await host.next('member:joined');
  child.signal('SIGSTOP');
  await wait(STALL_MS);
  child.signal('SIGCONT');
  const joins = await Promise.all(asked);
  for (const join of joins) if (!join.ok) expect(join.error.code).toBe('STORE_UNAVAILABLE');
  const left = await Promise.all(guests.map((guest) => guest.ask('room:leave')));
  expect(left.filter(({ ok }) => !ok)).toEqual([]);
  await vi.waitFor(async () => {
    const { members } = (await host.must('room:get')).room;
    expect(members.map(({ userId }) => userId)).toEqual([host.userId]);
  });
  for (const client of [host, ...guests]) client.socket.disconnect();
});
