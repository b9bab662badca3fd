/**
 * The cost of feed and call records for clients: how long a create and a join take over the wire on a server that
 * publishes and records every event, against the same server with its feed off. Both take turns.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedis } from '../test/support/redis.ts';
import { connectPeers, disconnect, must, type Peer } from './clients.ts';
import { type Round, type Row, toRow } from './figures.ts';
import { startSide } from './sides.ts';

const TIMES = 2_000;
/** Rounds that are not measured: the just-in-time compiler needs them. */
const WARM_UP = 500;

/** Microseconds. */
async function timed<Result>(work: () => Promise<Result>): Promise<[number, Result]> {
  const start = process.hrtime.bigint();
  const result = await work();
  return [Number(process.hrtime.bigint() - start) / 1_000, result];
}

/** One client creates a room, another joins it, the first closes it. */
async function measureRoom([host, guest]: readonly [Peer, Peer]) {
  const [create, { room }] = await timed(() => must(host, 'room:create', {}));
  const [joining] = await timed(() => must(guest, 'room:join', { code: room.code }));
  await must(host, 'room:close', {});
  return { create, join: joining };
}

export async function benchFeed(): Promise<Row[]> {
  await using redis = await startRedis();
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-bench-'));
  const databaseUrl = `sqlite:${join(folder, 'signalbox.db')}`;
  const start = (redisPrefix: string, feedMaxEvents: number) =>
    startSide('ours', redis.url, { redisPrefix, feedMaxEvents, databaseUrl, codeCooldownMs: 0 });
  try {
    await using withFeed = await start('feed:', 50_000);
    await using withoutFeed = await start('bare:', 0);
    const pairs = await Promise.all([withFeed, withoutFeed].map((side) => connectPeers(side, 2)));
    const [ours, bare] = pairs as [[Peer, Peer], [Peer, Peer]]; // two of each
    const rounds = { create: [] as Round[], join: [] as Round[] };
    for (let number = 0; number < TIMES + WARM_UP; number += 1) {
      const sides = number % 2 === 0 ? ([ours, bare] as const) : ([bare, ours] as const);
      const [first, second] = [await measureRoom(sides[0]), await measureRoom(sides[1])];
      const [mine, other] = number % 2 === 0 ? [first, second] : [second, first];
      if (number < WARM_UP) continue;
      for (const step of ['create', 'join'] as const) rounds[step].push({ ours: mine[step], bare: other[step] });
    }
    for (const peers of pairs) disconnect(peers);
    return [
      toRow('feed and records: room:create, against without', 'µs', rounds.create, 1.1),
      toRow('feed and records: room:join, against without', 'µs', rounds.join, 1.1),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
