/** A node whose process is stopped by a signal: a pause within the leases is harmless, and after them its late writes are refused. */
import { expect, test } from 'vitest';
import { connectClient } from '../../support/client.ts';
import { type Fleet, startFleet } from '../../support/fleet.ts';

const start = (userTtlMs: number) => startFleet(2, { userTtlMs, tickMs: 500, graceMs: 1000 });

/** A host on the first node, and a guest on the second, which is to be stopped. */
async function hostAndGuest(fleet: Fleet) {
  const host = await connectClient(fleet.node(0).url);
  const guest = await connectClient(fleet.node(1).url);
  const { room } = await host.must('room:create');
  await guest.must('room:join', { code: room.code });
  await host.next('member:joined');
  return {
    host,
    guest,
    code: room.code,
    async [Symbol.asyncDispose]() {
      await Promise.all([host[Symbol.asyncDispose](), guest[Symbol.asyncDispose]()]);
    },
  };
}

test('a node that is stopped within its leases goes on where it was', async () => {
  await using fleet = await start(60_000);
  await using members = await hostAndGuest(fleet);
  const { host, guest } = members;
  const { child } = fleet.node(1);
  child.signal('SIGSTOP');
  // Not acknowledged by that node in time: refused, and so not delivered when it goes on.
  expect(await host.refused('signal', { to: guest.userId, data: 'refused' })).toBe('STORE_UNAVAILABLE');
  const profile = guest.ask('profile', { name: 'Late' });
  child.signal('SIGCONT');
  expect(await profile).toMatchObject({ ok: true });
  await host.next('member:updated', ({ member }) => member.name === 'Late');
  for (let number = 1; number <= 5; number += 1) await host.must('signal', { to: guest.userId, data: number });
  for (let number = 1; number <= 5; number += 1) expect((await guest.next('signal')).data).toBe(number);
  expect(host.all('member:left')).toEqual([]);
  expect(host.all('member:away')).toEqual([]);
});

test('a node that is stopped past its leases loses its members, and what it writes late is refused', async () => {
  await using fleet = await start(1500);
  await using members = await hostAndGuest(fleet);
  const { host, guest, code } = members;
  const { child } = fleet.node(1);
  child.signal('SIGSTOP');
  // The kernel takes it; the node reads it when it goes on.
  const late = guest.ask('profile', { name: 'Late' }).then(
    ({ ok }) => ok,
    () => false,
  );
  const left = await host.next('member:left');
  expect(left).toMatchObject({ userId: guest.userId, reason: 'lost' });
  const before = (await host.must('room:get')).room;
  child.signal('SIGCONT');
  expect(await late).toBe(false);
  const { room } = await host.must('room:get');
  expect(room).toEqual(before);
  expect(room.members.map(({ userId }) => userId)).toEqual([host.userId]);
  await fleet.becomes(1, 200);
  await using again = await connectClient(fleet.node(1).url);
  expect((await again.must('room:join', { code })).room.members).toHaveLength(2);
  expect((await fleet.audit()).disagreements).toEqual([]);
});

test('what a client had sent to a stopped node is not relayed behind what it sends to another one', async () => {
  const pingTimeoutMs = 200;
  await using fleet = await startFleet(2, { pingTimeoutMs });
  await using members = await hostAndGuest(fleet);
  const { host, guest, code } = members;
  await using witness = await connectClient(fleet.node(1).url);
  await witness.must('room:join', { code });
  const { child } = fleet.node(1);
  child.signal('SIGSTOP');
  // The kernel takes it; the node reads it when it goes on.
  guest.socket.emit('signal', { to: host.userId, data: 'before' });
  await using back = await connectClient(fleet.node(0).url, { resume: guest.all('welcome')[0]?.resume ?? '' });
  await host.next('member:back');
  await back.must('signal', { to: host.userId, data: 'after' });
  // Longer than the timeout of a ping: a shorter stall is none.
  await new Promise((resolve) => setTimeout(resolve, 3 * pingTimeoutMs));
  child.signal('SIGCONT');
  await guest.next('session:replaced');
  // Sent behind everything that the stopped node has relayed.
  await witness.must('message', { data: 'done' });
  await host.next('message');
  expect(host.all('signal').map(({ data }) => data)).toEqual(['after']);
});

test('requests at the other nodes are served right after a node was killed', async () => {
  await using fleet = await startFleet(3, { userTtlMs: 5000, tickMs: 500 });
  await using lost = await connectClient(fleet.node(2).url);
  await using ann = await connectClient(fleet.node(0).url);
  await using ben = await connectClient(fleet.node(1).url);
  const { room } = await lost.must('room:create');
  for (const client of [ann, ben]) await client.must('room:join', { code: room.code });
  await fleet.node(2).child.kill();
  await ann.must('signal', { to: ben.userId, data: 'after the end' });
  expect((await ben.next('signal')).data).toBe('after the end');
  await ben.must('message', { data: 'after the end' });
  await ann.next('message');
  await using cat = await connectClient(fleet.node(0).url);
  await cat.must('room:join', { code: room.code });
  await using dan = await connectClient(fleet.node(1).url);
  const { room: own } = await dan.must('room:create');
  await ann.must('room:leave');
  await ann.must('room:join', { code: own.code });
});
