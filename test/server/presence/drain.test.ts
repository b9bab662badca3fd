/** A node that leaves: load balancers need time to notice, and who is here already must not notice anything. */
import { expect, test } from 'vitest';
import { connectClient } from '../../support/client.ts';
import { startNodes } from '../../support/nodes.ts';
import { refusedHandshake, tokenOf } from '../scenarios/members.ts';

const LEAVES = { drainReadyMs: 300_000, drainMs: 300_000 };

test('a leaving node serves who comes back, and refuses new users with the time to wait', async () => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 }, LEAVES);
  const url = nodes.url(0);
  await using ann = await connectClient(url);
  const { room } = await ann.must('room:create');
  const closing = nodes.servers[0]?.close({ waitForBalancers: true });
  expect(await refusedHandshake(url, {})).toMatchObject({ code: 'DRAINING', retryAfterMs: 500 });
  expect(await refusedHandshake(url, { resume: 'of nobody' })).toMatchObject({ code: 'SESSION_EXPIRED' });
  await using back = await connectClient(url, { resume: tokenOf(ann) });
  expect(back.all('welcome')).toMatchObject([{ room: { ref: room.ref } }]);
  await nodes.servers[0]?.close();
  await closing;
});

test('two closes that wait for load balancers both end with the third, which does not', async () => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 }, LEAVES);
  const { servers } = nodes;
  const waiting = [...servers, ...servers].map((server) => server.close({ waitForBalancers: true }));
  await Promise.all(servers.map((server) => server.close()));
  await Promise.all(waiting);
});
