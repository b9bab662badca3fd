/** The order of the signals of a pair, while their receiver resumes on another connection. */
import { expect, test } from 'vitest';
import { connectClient } from '../../support/client.ts';
import { startNodes, TOPOLOGIES } from '../../support/nodes.ts';
import { joinedPair, tokenOf } from '../scenarios/members.ts';

const RESUMES = 5;

test.each(TOPOLOGIES)('$name: signals to a member that resumes arrive in order', async (topology) => {
  await using nodes = await startNodes(topology);
  await using pair = await joinedPair(nodes);
  const { ann, ben } = pair;
  let sent = 0;
  let stopped = false;
  const sending = (async () => {
    while (!stopped) {
      sent += 1;
      // Refused while the receiver is away: what is refused must not arrive later.
      await ann.ask('signal', { to: ben.userId, data: sent });
    }
  })();
  const connections = [ben];
  for (let resume = 1; resume <= RESUMES; resume += 1) {
    const last = connections.at(-1) ?? expect.unreachable();
    await last.next('signal');
    // Half of them are cut off, the others replaced while they are connected.
    if (resume % 2 === 0) last.cut();
    connections.push(await connectClient(nodes.url(resume), { resume: tokenOf(last) }));
  }
  const newest = connections.at(-1) ?? expect.unreachable();
  await newest.next('signal');
  stopped = true;
  await sending;
  await ann.must('signal', { to: ben.userId, data: 'the end' });
  await newest.next('signal', ({ data }) => data === 'the end');
  const heard = connections.flatMap((client) => client.all('signal').map(({ data }) => data));
  const numbers = heard.slice(0, -1).map(Number);
  expect(heard.at(-1)).toBe('the end');
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  for (const client of connections) await client[Symbol.asyncDispose]();
});
