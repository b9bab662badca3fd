/** The last codes of a large pool, and rooms of back ends that nobody joins. */
import { expect, test, vi } from 'vitest';
import type { RoomSnapshot } from '../../../src/protocol/snapshot.ts';
import { SHARDS } from '../../../src/room/pool.ts';
import { refOf } from '../../room/fixtures.ts';
import { connectClient } from '../../support/client.ts';
import { MEMORY, startNodes, TWO_NODES } from '../../support/nodes.ts';
import { ADMIN, createApiClient, createRoom } from '../http/api/api-client.ts';

const FREE = 20;
const BATCH = 100;

test.each([
  { ...MEMORY, poolSize: 10_000 },
  { ...TWO_NODES, poolSize: 1000 },
])('$name: the last twenty of $poolSize codes are given out, each once', async ({ poolSize, ...topology }) => {
  await using nodes = await startNodes(topology, { poolSize, adminToken: ADMIN });
  const { engine } = nodes.servers[0] ?? expect.unreachable();
  // Past the limits and hooks of a server, because a create through it takes a hundred times as long; in batches, because
  // what is in flight to Redis is bounded.
  for (let first = 0; first < poolSize - FREE; first += BATCH) {
    await Promise.all(
      Array.from({ length: Math.min(BATCH, poolSize - FREE - first) }, (_, number) =>
        engine.apply({
          kind: 'create',
          shard: (first + number) % SHARDS,
          candidates: [],
          searchFrom: Math.floor((first + number) / SHARDS),
          ref: refOf(first + number),
          settings: { type: 'meeting', maxUsers: 4, access: 'open' },
        }),
      ),
    );
  }
  const creates = await Promise.all(
    Array.from({ length: FREE + 5 }, (_, number) => createApiClient(nodes.url(number)).request('POST', '/rooms', {})),
  );
  const rooms = creates.filter(({ status }) => status === 201).map(({ body }) => body as RoomSnapshot);
  expect(new Set(rooms.map(({ code }) => code)).size).toBe(FREE);
  const refused = creates.filter(({ status }) => status !== 201).map(({ body }) => (body as { code: string }).code);
  expect(refused).toEqual(Array.from({ length: 5 }, () => 'POOL_EXHAUSTED'));
  await using ann = await connectClient(nodes.url(0));
  expect(await ann.refused('room:create')).toBe('POOL_EXHAUSTED');
});

test.each([MEMORY, TWO_NODES])('$name: a room of a back end that nobody joins ends in time', async (topology) => {
  const options = { roomEmptyMs: 300, tickMs: 100, codeCooldownMs: 0, adminToken: ADMIN };
  await using nodes = await startNodes(topology, options);
  const client = createApiClient(nodes.url(1));
  const { code } = await createRoom(client);
  await vi.waitFor(async () => expect((await client.request('GET', `/rooms/${code}`)).status).toBe(404));
  await using ann = await connectClient(nodes.url(0));
  expect(await ann.refused('room:join', { code })).toBe('ROOM_NOT_FOUND');
  expect(await client.expectStatus(200, 'GET', '/pool')).toMatchObject({ occupied: 0 });
});
