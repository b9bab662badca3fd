/**
 * How long one client waits for a transition on Redis, against the least that a script can do there: one write to one
 * hash. Each transition and each bare script take turns, one at a time.
 */
import { randomInt } from 'node:crypto';
import { createClient } from 'redis';
import type { NodeId, RoomRef, SessionNumber, UserId } from '../src/protocol/ids.ts';
import { codeAt, createPool, SHARDS } from '../src/room/pool.ts';
import { startRedis } from '../test/support/redis.ts';
import { connectPeers, disconnect, must, type Peer } from './clients.ts';
import { type Round, type Row, toRow } from './figures.ts';
import { startSide } from './sides.ts';

const TIMES = 2_000;
/** Half of them for the compilers. */
const WIRE_TIMES = 800;
/** The first of each are for the compilers, here and in Redis. */
const WARM_UP = 1_500;
const BARE = `#!lua\nreturn redis.call('HSET', KEYS[1], 'field', ARGV[1])`;

const MINUTE = 60_000;
const POLICY = {
  leaseMs: MINUTE,
  graceMs: MINUTE / 2,
  idleMs: 30 * MINUTE,
  emptyMs: 5 * MINUTE,
  maxAgeMs: 24 * 60 * MINUTE,
  cooldownMs: 10 * MINUTE,
  idempotencyMs: 10 * MINUTE,
  recoveryMs: 0,
  closeOnHostLeave: false,
};
const NODE = 'bench' as NodeId;
const POOL = createPool(6, 900_000);

/** Microseconds. */
async function timed<Result>(work: () => Promise<Result>): Promise<[number, Result]> {
  const start = process.hrtime.bigint();
  const result = await work();
  return [Number(process.hrtime.bigint() - start) / 1_000, result];
}

async function startBare(url: string) {
  const client = createClient({ url, commandOptions: { timeout: 0 }, maintNotifications: 'disabled' });
  await client.connect();
  const sha = await client.scriptLoad(BARE);
  let count = 0;
  return {
    ask: async () => {
      count += 1;
      const [time] = await timed(() => client.evalSha(sha, { keys: ['bench:bare'], arguments: [String(count)] }));
      return time;
    },
    end: () => client.destroy(),
  };
}

/** What is shipped, as it is shipped. */
const builtEngine = (): Promise<typeof import('../src/engine/redis/index.ts')> =>
  import(new URL('../dist/engine/redis/index.js', import.meta.url).href);

async function openEngine(url: string) {
  const { createRedisEngine } = await builtEngine();
  return createRedisEngine({ url })({ nodeId: NODE, policy: POLICY, pool: POOL, feedMaxEvents: 50_000 });
}

type Engine = Awaited<ReturnType<typeof openEngine>>;

const person = (userId: string) => ({
  userId: userId as UserId,
  session: 1 as SessionNumber,
  nodeId: NODE,
  profile: { name: 'Ada' },
});

/** As the server draws them. */
function drawn() {
  const shard = randomInt(SHARDS);
  const candidates = Array.from({ length: 8 }, () => codeAt(POOL, shard, randomInt(POOL.perShard)));
  return { shard, candidates, searchFrom: randomInt(POOL.perShard) };
}

/** Opens a room, lets somebody in and out again, and times each step. */
async function playRoom(engine: Engine, number: number) {
  const ref = `ROM2026${String(number).padStart(8, '0')}` as RoomRef; // the form of a ref
  const [create, made] = await timed(() =>
    engine.apply({
      kind: 'create',
      ref,
      by: person(`host-${number}`),
      settings: { type: 'call', maxUsers: 8, access: 'open' },
      ...drawn(),
    }),
  );
  if (!made.ok) throw new Error(`a create was refused: ${made.reason}`);
  const { code } = made.room;
  const guest = person(`guest-${number}`);
  const [join, joined] = await timed(() => engine.apply({ kind: 'join', code, ref, by: guest }));
  const [leave, left] = await timed(() => engine.apply({ kind: 'leave', code, ref, ...guest }));
  if (!joined.ok || !left.ok) throw new Error('a transition was refused');
  return { create, join, leave };
}

async function overTheWire(url: string, bare: () => Promise<number>): Promise<Round[]> {
  await using side = await startSide('ours', url);
  const peers = await connectPeers(side, 1);
  const [client] = peers as [Peer];
  const rounds: Round[] = [];
  for (let number = 0; number < WIRE_TIMES; number += 1) {
    const [ours] = await timed(() => must(client, 'room:create', {}));
    await must(client, 'room:leave', {});
    rounds.push({ ours, bare: await bare() });
  }
  disconnect(peers);
  return rounds.slice(WIRE_TIMES / 2);
}

export async function benchCreate(): Promise<Row[]> {
  await using redis = await startRedis();
  const engine = await openEngine(redis.url);
  const bare = await startBare(redis.url);
  const rounds = { create: [] as Round[], join: [] as Round[], leave: [] as Round[] };
  try {
    for (let number = 0; number < TIMES + WARM_UP; number += 1) {
      const ours = await playRoom(engine, number);
      for (const step of ['create', 'join', 'leave'] as const) {
        const round = { ours: ours[step], bare: await bare.ask() };
        if (number >= WARM_UP) rounds[step].push(round);
      }
    }
    return [
      toRow('Redis: create, engine', 'µs', rounds.create, 2),
      toRow('Redis: join, engine', 'µs', rounds.join),
      toRow('Redis: leave, engine', 'µs', rounds.leave),
      toRow('Redis: room:create, over the wire', 'µs', await overTheWire(redis.url, bare.ask)),
    ];
  } finally {
    bare.end();
    await engine.close();
  }
}
