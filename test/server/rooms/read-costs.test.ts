/** What reading a full room costs Redis: the scripts that it runs, and the bytes that it answers. */
import { createClient } from 'redis';
import { expect, test } from 'vitest';
import type { RequestPayload } from '../../../src/protocol/events.ts';
import type { RoomSnapshot } from '../../../src/protocol/snapshot.ts';
import { joiningUser } from '../../room/fixtures.ts';
import { connectClient } from '../../support/client.ts';
import { type Nodes, ONE_NODE, startNodes } from '../../support/nodes.ts';

const ASKERS = 100;
const KIB = 1024;

/** Members beside the host, each with a kibibyte of metadata: past the server, which would need as many connections. */
async function fill({ servers }: Nodes, { code, ref }: RoomSnapshot): Promise<void> {
  const { engine } = servers[0] ?? expect.unreachable();
  const profile = { name: 'n'.repeat(64), metadata: JSON.stringify('m'.repeat(KIB - 2)) };
  const joins = Array.from({ length: ASKERS - 1 }, (_, index) =>
    engine.apply({ kind: 'join', code, ref, by: joiningUser(`member-${index}`, { profile }) }),
  );
  for (const joined of await Promise.all(joins)) expect(joined.ok).toBe(true);
}

/** What Redis has read and sent so far. */
async function figures(admin: ReturnType<typeof createClient>) {
  const text = `${await admin.info('commandstats')}${await admin.info('stats')}`;
  const number = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);
  return {
    seatLists: number(/cmdstat_hvals:calls=(\d+)/),
    rooms: number(/cmdstat_hmget:calls=(\d+)/),
    bytes: number(/total_net_output_bytes:(\d+)/),
  };
}

async function costOf({ redis }: Nodes, work: () => Promise<unknown>) {
  const admin: ReturnType<typeof createClient> = createClient({ url: (redis ?? expect.unreachable()).url });
  await admin.connect();
  try {
    const before = await figures(admin);
    await work();
    const { seatLists, rooms, bytes } = await figures(admin);
    return { seatLists: seatLists - before.seatLists, rooms: rooms - before.rooms, bytes: bytes - before.bytes };
  } finally {
    admin.destroy();
  }
}

/** Neither the rate of one connection nor what it may leave unread is what this is about. */
const UNLIMITED = { eventsBurst: 10_000, eventsPerSecond: 10_000, outboundBytes: 64 * KIB * KIB };

test('a hundred questions for a room of a hundred cost two reads of it, and none if it is unchanged', async () => {
  await using nodes = await startNodes(ONE_NODE, { ...UNLIMITED, tickMs: 30_000 });
  await using ann = await connectClient(nodes.url(0));
  const { room } = await ann.must('room:create', { maxUsers: ASKERS });
  await fill(nodes, room);
  const { rev } = await ann.must('room:get');
  const ask = (payload: RequestPayload<'room:get'>) => async () => {
    const replies = Array.from({ length: ASKERS }, () => ann.must('room:get', payload));
    for (const reply of await Promise.all(replies)) expect(reply.rev).toBe(rev);
  };

  const stale = await costOf(nodes, ask({ rev: rev - 1 }));
  const current = await costOf(nodes, ask({ rev }));
  const quiet = await costOf(nodes, async () => undefined);
  // The questions may reach the node in several portions, each of which begins another read.
  expect(stale.seatLists).toBeGreaterThan(0);
  expect(stale.seatLists).toBeLessThan(ASKERS / 5);
  expect(current.seatLists).toBe(0);
  expect(current.rooms).toBeGreaterThan(0);
  expect(current.bytes - quiet.bytes).toBeLessThan(10 * KIB);
});
