/** A primary, its replicas and the sentinels that watch them: real processes on free ports. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { askRedis } from './ask-redis.ts';
import { PATIENCE_MS } from './patience-ms.ts';
import { freePort, type RunningChild, startChild, type TemporaryFolder, temporaryFolder } from './process.ts';
import { type RedisServer, startRedis } from './redis.ts';
import { retry } from './retry.ts';

export interface SentinelOptions {
  readonly replicas?: number;
  /** For Redis and for the sentinels' access to it. */
  readonly password?: string;
  /** For the sentinels themselves. */
  readonly sentinelPassword?: string;
}

export interface Sentinel extends AsyncDisposable {
  readonly port: number;
  /** SIGKILL */
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** Starts again with what it knew. */
  restart(): Promise<void>;
}

export interface SentinelGroup extends AsyncDisposable {
  /** With all sentinels, and the password of Redis. */
  readonly url: string;
  /** The first is the primary at the start. */
  readonly servers: readonly RedisServer[];
  readonly sentinels: readonly Sentinel[];
  /** The server that the sentinels, at least two of them, name now. */
  primary(): Promise<RedisServer>;
  /** Resolves when all replicas that run are known to the sentinels, and have all that the primary has. */
  inSync(): Promise<void>;
  /** From now on no replica receives what is written: a failover loses it. */
  stallReplication(): Promise<void>;
  /** The end of `stallReplication()`. */
  resumeReplication(): Promise<void>;
  /**
   * SENTINEL FAILOVER: a replica is promoted, whether the primary runs or not. Sentinels do the same by themselves when they
   * agree that it is down. Resolves with the new primary.
   */
  failOver(): Promise<RedisServer>;
  /** One command to a server, on a connection of its own. */
  ask(port: number, ...args: string[]): Promise<unknown>;
}

export const MASTER_NAME = 'calls';
const SENTINELS = 3;
const QUORUM = 2;
/** Longer than any process has to wait for the processor: no primary is replaced that a test did not fail. */
const DOWN_AFTER_MS = 10_000;

export async function startSentinelGroup(options: SentinelOptions = {}): Promise<SentinelGroup> {
  const owned: AsyncDisposable[] = [];
  const own = <T extends AsyncDisposable>(resource: T): T => {
    owned.unshift(resource);
    return resource;
  };
  const close = async (): Promise<void> => {
    for (const resource of owned) await resource[Symbol.asyncDispose]();
  };
  try {
    const folder = own(await temporaryFolder());
    const servers = await startServers(options, own);
    const ports = await Promise.all(Array.from({ length: SENTINELS }, freePort));
    const parts = ports.map((_, index) => ({ folder, servers, ports, index, options }));
    const sentinels = await Promise.all(parts.map(startSentinel));
    for (const sentinel of sentinels) own(sentinel);
    const group = groupOf({ servers, sentinels, options, close });
    await group.inSync();
    return group;
  } catch (error) {
    await close();
    throw error;
  }
}

async function startServers({ replicas = 2, password }: SentinelOptions, own: <T extends AsyncDisposable>(it: T) => T) {
  const auth = password === undefined ? [] : ['--requirepass', password, '--masterauth', password];
  const fast = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1'];
  const primary = own(await startRedis({ args: [...auth, ...fast] }));
  const replica = ['--replicaof', '127.0.0.1', String(primary.port)];
  const started = Array.from({ length: replicas }, () => startRedis({ args: [...auth, ...fast, ...replica] }));
  return [primary, ...(await Promise.all(started)).map(own)];
}

interface SentinelParts {
  readonly folder: TemporaryFolder;
  readonly servers: readonly RedisServer[];
  readonly ports: readonly number[];
  readonly index: number;
  readonly options: SentinelOptions;
}

async function startSentinel({ folder, servers, ports, index, options }: SentinelParts): Promise<Sentinel> {
  const { password, sentinelPassword } = options;
  const [primary, ...replicas] = servers.map((server) => server.port);
  const file = join(folder.path, `sentinel-${index}.conf`);
  const of = (setting: string, ...values: unknown[]): string => ['sentinel', setting, MASTER_NAME, ...values].join(' ');
  const id = (of: number): string => String(of + 1).repeat(40);
  const lines = [
    `port ${ports[index]}`,
    'bind 127.0.0.1',
    `dir ${folder.path}`,
    `sentinel myid ${id(index)}`,
    of('monitor', '127.0.0.1', primary, QUORUM),
    of('down-after-milliseconds', DOWN_AFTER_MS),
    of('failover-timeout', 6_000),
    of('parallel-syncs', 2),
    ...(password === undefined ? [] : [of('auth-pass', password)]),
    ...(sentinelPassword === undefined ? [] : [`requirepass ${sentinelPassword}`]),
    ...(sentinelPassword === undefined ? [] : [`sentinel sentinel-pass ${sentinelPassword}`]),
    // Told rather than discovered, which takes seconds.
    ...replicas.map((port) => of('known-replica', '127.0.0.1', port)),
    ...ports.flatMap((port, at) => (at === index ? [] : [of('known-sentinel', '127.0.0.1', port, id(at))])),
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const port = ports[index] ?? 0;
  const launch = async (): Promise<RunningChild> => {
    const child = await launchSentinel(file);
    await askRedis({ port, password: sentinelPassword }, 'SENTINEL', 'DEBUG', ...HASTE);
    return child;
  };
  return ownedSentinel(port, launch, await launch());
}

/**
 * By default a sentinel looks at a demoted primary every 10 s, and for a lost one again after 15 s. One that was not given the
 * processor for 2 s does nothing for 30 s: on a busy machine that is all of them.
 */
const HASTE = [
  ...['INFO', 'PING', 'ASK', 'PUBLISH', 'MIN-LINK-RECONNECT'].flatMap((of) => [`${of}-PERIOD`, '400']),
  'TILT-TRIGGER',
  '60000',
  'TILT-PERIOD',
  '1000',
];

function ownedSentinel(port: number, launch: () => Promise<RunningChild>, first: RunningChild): Sentinel {
  let child = first;
  return {
    port,
    kill: async () => void (await child.kill()),
    freeze: () => child.signal('SIGSTOP'),
    thaw: () => child.signal('SIGCONT'),
    restart: async () => {
      await child.kill();
      child = await launch();
    },
    [Symbol.asyncDispose]: async () => void (await child.kill()),
  };
}

const launchSentinel = (file: string): Promise<RunningChild> =>
  startChild({
    command: 'redis-server',
    args: [file, '--sentinel'],
    ready: /\+monitor master/,
    startMs: 10_000,
  });

interface GroupParts {
  readonly servers: readonly RedisServer[];
  readonly sentinels: readonly Sentinel[];
  readonly options: SentinelOptions;
  readonly close: () => Promise<void>;
}

function groupOf({ servers, sentinels, options, close }: GroupParts): SentinelGroup {
  const { password, sentinelPassword } = options;
  const ask = (port: number, ...args: string[]): Promise<unknown> => {
    const isSentinel = sentinels.some((sentinel) => sentinel.port === port);
    return askRedis({ port, password: isSentinel ? sentinelPassword : password }, ...args);
  };
  const named = async (): Promise<RedisServer | undefined> => {
    const replies = await Promise.allSettled(
      sentinels.map(({ port }) => ask(port, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER_NAME)),
    );
    const ports = replies.flatMap((reply) =>
      reply.status === 'fulfilled' && Array.isArray(reply.value) ? [Number(reply.value[1])] : [],
    );
    return servers.find(({ port }) => ports.filter((other) => other === port).length >= QUORUM);
  };
  const until = (fits: (server: RedisServer) => boolean): Promise<RedisServer> =>
    retry(async () => {
      const server = await named();
      if (server === undefined || !fits(server)) throw new Error('the sentinels do not name a new primary');
      return server;
    }, PATIENCE_MS / 100);
  const list = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const query = sentinelPassword === undefined ? '' : `?sentinelPassword=${sentinelPassword}`;
  return {
    url: `redis+sentinel://${password === undefined ? '' : `:${password}@`}${list}/${MASTER_NAME}${query}`,
    servers,
    sentinels,
    primary: () => until(() => true),
    inSync: () => inSync(servers.length - 1, sentinels, ask, () => until(() => true)),
    async stallReplication() {
      const primary = await until(() => true);
      // No such user: a replica whose connection is ended is not let in again.
      for (const { port } of servers) await ask(port, 'CONFIG', 'SET', 'masteruser', 'nobody', 'masterauth', 'wrong');
      await ask(primary.port, 'CLIENT', 'KILL', 'TYPE', 'replica');
    },
    async resumeReplication() {
      const settle = ({ port }: RedisServer) =>
        ask(port, 'CONFIG', 'SET', 'masteruser', '', 'masterauth', password ?? '');
      // One that is dead starts without the settings of `stallReplication`.
      await Promise.allSettled(servers.map(settle));
    },
    async failOver() {
      const old = await until(() => true);
      await retry(() => beginFailover(sentinels, ask), PATIENCE_MS / 100);
      return until((server) => server !== old);
    },
    ask,
    [Symbol.asyncDispose]: close,
  };
}

/** At one of those that run, not at all: each would promote a replica of its choice. */
async function beginFailover(sentinels: readonly Sentinel[], ask: SentinelGroup['ask']): Promise<void> {
  const reasons: unknown[] = [];
  for (const { port } of sentinels) {
    try {
      await ask(port, 'SENTINEL', 'FAILOVER', MASTER_NAME);
      return;
    } catch (error) {
      reasons.push(error);
    }
  }
  throw new AggregateError(reasons, 'no sentinel begins a failover');
}

function inSync(
  replicas: number,
  sentinels: readonly Sentinel[],
  ask: SentinelGroup['ask'],
  primary: SentinelGroup['primary'],
): Promise<void> {
  return retry(async () => {
    for (const { port } of sentinels) {
      const known = await ask(port, 'INFO', 'sentinel');
      expect(known).toContain(`slaves=${replicas},sentinels=${sentinels.length}`);
      expect(known).toContain('status=ok');
    }
    const state = String(await ask((await primary()).port, 'INFO', 'replication'));
    expect(state.match(/state=online/g)).toHaveLength(replicas);
  }, PATIENCE_MS / 100);
}
