/** Random orders of create, join, leave and close: no seat is left on the server, and every promise settles. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Client, type Room, SignalboxError } from '../../src/client/index.ts';
import { auditShards } from '../../src/engine/redis/audit.ts';
import type { PartialOptions } from '../../src/server/options/options.ts';
import { poolOf } from '../../src/server/options/options.ts';
import { connectClient } from '../support/client.ts';
import { type Nodes, startNodes } from '../support/nodes.ts';
import { Clients } from './harness.ts';
import { TcpSwitch } from './tcp-switch.ts';

const RUNS = 200;
const AT_ONCE = 10;

const action = fc.constantFrom('create', 'join', 'join', 'leave', 'message', 'profile', 'ready', 'host closes', 'cut');
/** Turns of the event loop before the next action: none, less than a round trip, more than one. */
const pause = fc.constantFrom(0, 0, 0, 1, 2, 5, 20);
const script = fc.record({
  actions: fc.array(fc.tuple(action, pause), { minLength: 1, maxLength: 8 }),
  /** Whether it is closed twice. */
  twice: fc.boolean(),
});
type Script = typeof script extends fc.Arbitrary<infer Value> ? Value : never;

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

function doAction(client: Client, name: string, code: string, tcp: TcpSwitch): Promise<unknown> | undefined {
  const room: Room | null = client.room;
  switch (name) {
    case 'create':
      return client.create();
    case 'join':
      return client.join(code);
    case 'leave':
      return room?.leave();
    case 'message':
      return room?.message('x');
    case 'profile':
      return room?.setProfile({ name: 'X' });
    case 'host closes':
      return room?.self.role === 'host' ? room.close() : undefined;
    case 'ready':
      return client.ready();
    default:
      tcp.cut();
      return undefined;
  }
}

/** Carries out the actions of one client and closes it. @returns the results of its promises */
async function runScript(clients: Clients, tcp: TcpSwitch, code: string, { actions, twice }: Script) {
  const client = clients.connect(tcp.url, { timeoutMs: 15_000 });
  const asked: Promise<unknown>[] = [];
  for (const [name, count] of actions) {
    const promise = doAction(client, name, code, tcp);
    // The results are read at the end: until then a rejection must not count as unhandled.
    promise?.catch(() => {});
    if (promise) asked.push(promise);
    await turns(count);
  }
  await Promise.all([client.close(), ...(twice ? [client.close()] : [])]);
  return Promise.allSettled(asked);
}

async function race(options: PartialOptions, mayCut: boolean, check: (seats: () => Promise<number>) => Promise<void>) {
  await using nodes = await startNodes({ kind: 'redis', count: 2 }, options);
  await using clients = new Clients();
  await using witness = await connectClient(nodes.url(0));
  const { room } = await witness.must('room:create', { maxUsers: 100 });
  const scripts = fc.sample(script, { numRuns: RUNS, seed: 7 });
  const outcomes = new Map<string, number>();
  for (let done = 0; done < RUNS; done += AT_ONCE) {
    await using tcp = await TcpSwitch.to(nodes.servers[(done / AT_ONCE) % 2]?.port ?? 0);
    const batch = scripts.slice(done, done + AT_ONCE).map(({ actions, twice }) => ({
      actions: mayCut ? actions : actions.filter(([name]) => name !== 'cut'),
      twice,
    }));
    for (const results of await Promise.all(batch.map((it) => runScript(clients, tcp, room.code, it)))) {
      for (const result of results) {
        const key = result.status === 'fulfilled' ? 'done' : codeOf(result.reason);
        outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
      }
    }
  }
  await check(() => seatsIn(nodes));
  const { room: after } = await witness.must('room:get');
  expect(after.members).toHaveLength(1);
  return outcomes;
}

const codeOf = (reason: unknown): string => (reason instanceof SignalboxError ? reason.code : String(reason));

async function seatsIn({ redis, servers }: Nodes): Promise<number> {
  const options = servers[0]?.options ?? expect.unreachable();
  const shards = await auditShards({ url: redis?.url ?? '', pool: poolOf(options) });
  return shards.reduce((sum, { seats }) => sum + seats, 0);
}

test('with a stable connection, the seat is free when close() resolves', async () => {
  const outcomes = await race({}, false, async (seats) => expect(await seats()).toBe(1));
  const codes = ['done', 'CLOSED', 'NOT_IN_ROOM', 'FORBIDDEN', 'CODE_EXPIRED'];
  for (const code of outcomes.keys()) expect(codes).toContain(code);
  expect(outcomes.get('done')).toBeGreaterThan(50);
  expect(outcomes.get('CLOSED')).toBeGreaterThan(50);
});

test('with a connection that is cut again and again, the seat is free after the grace period', async () => {
  const outcomes = await race({ graceMs: 300, tickMs: 100 }, true, (seats) =>
    expect.poll(seats, { timeout: 30_000, interval: 200 }).toBe(1),
  );
  const codes = ['done', 'CLOSED', 'NOT_IN_ROOM', 'FORBIDDEN', 'CODE_EXPIRED', 'TIMEOUT', 'UNREACHABLE'];
  for (const code of outcomes.keys()) expect(codes).toContain(code);
});
