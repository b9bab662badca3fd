/** The credentials at a real TURN server: two peers that may use only the relay connect, or fail. */
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createServer } from '../../../src/index.ts';
import type { IceServer } from '../../../src/protocol/messages.ts';
import { connectClient } from '../../support/client.ts';
import { startCoturn } from '../../support/coturn.ts';
import { connectThroughRelay } from '../../support/relay-only-peers.ts';

const NEW = 'the secret of this spring';
const OLD = 'the secret of last winter';

describe.each(['udp', 'tcp'] as const)('over %s', (transport) => {
  test('two members connect through the relay', async () => {
    await using coturn = await startCoturn({ secrets: [NEW] });
    const [ann, ben] = await issued([coturn.url(transport)], [NEW]);
    expect(await connectThroughRelay(ann, ben)).toEqual({ outcome: 'talked', errors: [] });
  });

  test.each([
    ['has expired', NEW, -10],
    ['was signed with another secret', OLD, 3600],
  ])('a credential that %s is refused', async (_, secret, secondsLeft) => {
    await using coturn = await startCoturn({ secrets: [NEW] });
    const username = `${Math.floor(Date.now() / 1000) + secondsLeft}:ann`;
    const credential = createHmac('sha1', secret).update(username).digest('base64');
    const servers = [{ urls: [coturn.url(transport)], username, credential }];
    const { outcome, errors } = await connectThroughRelay(servers, servers);
    expect(outcome).toBe('no relay');
    expect(new Set(errors)).toEqual(new Set([401]));
  });
});

describe('during a change of the secret, two members connect', () => {
  test.each([
    ['the old one', [OLD]],
    ['the new one', [NEW]],
    ['both', [OLD, NEW]],
  ])('with a TURN server that knows %s', async (_, secrets) => {
    await using coturn = await startCoturn({ secrets });
    const [ann, ben] = await issued([coturn.url('udp'), coturn.url('tcp')], [NEW, OLD]);
    expect(await connectThroughRelay(ann, ben)).toMatchObject({ outcome: 'talked' });
  });

  test('when one joined before the change and one after it', async () => {
    await using coturn = await startCoturn({ secrets: [OLD, NEW] });
    const [before] = await issued([coturn.url('udp')], [OLD]);
    const [after] = await issued([coturn.url('udp')], [NEW]);
    expect(await connectThroughRelay(before, after)).toMatchObject({ outcome: 'talked' });
  });
});

/** The ICE servers that two members of a room receive. */
async function issued(turnUrls: string[], turnSecrets: string[]): Promise<[IceServer[], IceServer[]]> {
  const server = await createServer({ host: '127.0.0.1', port: 0, demo: false, turnUrls, turnSecrets });
  try {
    const [ann, ben] = await Promise.all([connectClient(server.url), connectClient(server.url)]);
    const made = await ann.must('room:create');
    const joined = await ben.must('room:join', { code: made.room.code });
    return [made.iceServers, joined.iceServers];
  } finally {
    await server.close();
  }
}
