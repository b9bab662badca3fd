/** Three masters with a replica each: real processes on free ports, which fail over by themselves. */
import { expect, vi } from 'vitest';
import { askRedis } from './ask-redis.ts';
import { PATIENCE_MS } from './patience-ms.ts';
import { freePort } from './process.ts';
import { type RedisServer, startRedis } from './redis.ts';
import { retry } from './retry.ts';

export interface RedisCluster extends AsyncDisposable {
  /** With one master and one replica. */
  readonly url: string;
  readonly servers: readonly RedisServer[];
  /** The master of a slot, as the other servers see it. */
  masterOf(slot: number): Promise<RedisServer>;
  /** Of all masters, as a server that runs sees them. */
  masters(): Promise<RedisServer[]>;
  /** Resolves when each master has a replica that has all it has. */
  inSync(): Promise<void>;
  /**
   * To another master, as operators move it: with its keys in batches. `halfway` is awaited when the first batch has gone.
   */
  moveSlot(slot: number, halfway?: () => Promise<unknown>): Promise<void>;
  /** One command to a server, on a connection of its own. */
  ask(server: RedisServer, ...args: string[]): Promise<unknown>;
}

const MASTERS = 3;
const LAST_SLOT = 16_383;

export async function startCluster(nodeTimeoutMs = 2_000): Promise<RedisCluster> {
  const start = async (): Promise<{ readonly server: RedisServer; readonly busPort: number }> => {
    const busPort = await freePort();
    const server = await startRedis({
      args: [
        '--cluster-enabled',
        'yes',
        '--cluster-node-timeout',
        String(nodeTimeoutMs),
        '--cluster-replica-validity-factor',
        '0',
        '--cluster-require-full-coverage',
        'no',
        // Otherwise 10,000 above the other one, which may be taken or too high.
        '--cluster-port',
        String(busPort),
        '--repl-diskless-sync-delay',
        '0',
      ],
    });
    return { server, busPort };
  };
  // A free port can be taken between asking and binding.
  const started = await Promise.all(Array.from({ length: 2 * MASTERS }, () => retry(start, 3)));
  const servers = started.map(({ server }) => server);
  const close = async (): Promise<void> => void (await Promise.all(servers.map((server) => server.stop())));
  try {
    await join(servers, started[0]?.busPort ?? 0);
    const cluster = clusterOf(servers, close);
    await cluster.inSync();
    return cluster;
  } catch (error) {
    await close();
    throw error;
  }
}

async function join(servers: readonly RedisServer[], busPort: number): Promise<void> {
  const [first = expect.unreachable()] = servers;
  for (const [index, server] of servers.entries()) {
    await askRedis(server, 'CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
    if (index > 0) await askRedis(server, 'CLUSTER', 'MEET', '127.0.0.1', String(first.port), String(busPort));
    if (index >= MASTERS) continue;
    const from = Math.ceil((index * (LAST_SLOT + 1)) / MASTERS);
    const to = Math.ceil(((index + 1) * (LAST_SLOT + 1)) / MASTERS) - 1;
    await askRedis(server, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String(to));
  }
  for (const [index, replica] of servers.slice(MASTERS).entries()) {
    const id = String(await askRedis(servers[index] ?? expect.unreachable(), 'CLUSTER', 'MYID'));
    await vi.waitFor(() => askRedis(replica, 'CLUSTER', 'REPLICATE', id), PATIENCE_MS);
  }
}

interface Move {
  readonly slot: string;
  readonly source: RedisServer;
  readonly target: RedisServer;
  readonly halfway: (() => Promise<unknown>) | undefined;
}

async function moveSlot({ slot, source, target, halfway }: Move): Promise<void> {
  const [sourceId, targetId] = await Promise.all([source, target].map((it) => askRedis(it, 'CLUSTER', 'MYID')));
  const setSlot = (server: RedisServer, ...state: string[]) => askRedis(server, 'CLUSTER', 'SETSLOT', slot, ...state);
  await setSlot(target, 'IMPORTING', String(sourceId));
  await setSlot(source, 'MIGRATING', String(targetId));
  for (let batch = 0; ; batch += 1) {
    const keys = await askRedis(source, 'CLUSTER', 'GETKEYSINSLOT', slot, '10');
    if (!Array.isArray(keys) || keys.length === 0) break;
    const to = ['127.0.0.1', String(target.port), '', '0', '5000'];
    await askRedis(source, 'MIGRATE', ...to, 'KEYS', ...keys.map(String));
    if (batch === 0) await halfway?.();
  }
  for (const server of [target, source]) await setSlot(server, 'NODE', String(targetId));
}

function clusterOf(servers: readonly RedisServer[], close: () => Promise<void>): RedisCluster {
  const slots = async (): Promise<readonly (readonly [number, number, number])[]> => {
    for (const server of servers) {
      const reply = await askRedis(server, 'CLUSTER', 'SLOTS').catch(() => undefined);
      if (Array.isArray(reply)) return reply.map(([from, to, [, port]]) => [from, to, port] as const);
    }
    throw new Error('no server answers');
  };
  const at = (port: number): RedisServer => servers.find((server) => server.port === port) ?? expect.unreachable();
  const masters = async (): Promise<RedisServer[]> => [...new Set((await slots()).map(([, , port]) => at(port)))];
  return {
    url: `redis+cluster://127.0.0.1:${servers[0]?.port},127.0.0.1:${servers.at(-1)?.port}`,
    servers,
    ask: askRedis,
    masters,
    async masterOf(slot) {
      const range = (await slots()).find(([from, to]) => from <= slot && slot <= to);
      return at(range?.[2] ?? 0);
    },
    async moveSlot(slot, halfway) {
      const range = (await slots()).find(([from, to]) => from <= slot && slot <= to);
      const source = at(range?.[2] ?? 0);
      const target = (await masters()).find((master) => master !== source) ?? expect.unreachable();
      await moveSlot({ slot: String(slot), source, target, halfway });
    },
    inSync: () =>
      vi.waitFor(async () => {
        for (const server of servers) {
          expect(await askRedis(server, 'CLUSTER', 'INFO')).toMatch(/cluster_state:ok[\s\S]*cluster_known_nodes:6/);
        }
        for (const master of await masters()) {
          expect(await askRedis(master, 'INFO', 'replication')).toMatch(/slave0:.*state=online/);
        }
      }, PATIENCE_MS),
    [Symbol.asyncDispose]: close,
  };
}
