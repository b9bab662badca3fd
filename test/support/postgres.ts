import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { executableOf } from '../../scripts/services.ts';
import { backUp } from './backup.ts';
import type { DatabaseServer } from './database.ts';
import { freePort, type RunningChild, startChild, temporaryFolder } from './process.ts';
import { giveAway, runUnprivileged, unprivileged } from './unprivileged.ts';

/** A real PostgreSQL of one's own on a free port of 127.0.0.1. What it commits outlives its process, not the machine. */
export async function startPostgres(): Promise<DatabaseServer> {
  const binaries = dirname(realpathSync(executableOf('postgresql')));
  const folder = await temporaryFolder();
  const data = join(folder.path, 'data');
  let server: RunningChild | undefined;
  const port = await freePort();
  const launch = async () => {
    server = await startChild({
      ...unprivileged(join(binaries, 'postgres'), settings(data, folder.path, port)),
      ready: /ready to accept connections/,
      startMs: 60_000,
    });
  };
  const dispose = async () => {
    // SIGINT: without waiting for clients, and with nothing left behind in the system's shared memory.
    if (server?.running) {
      signalAll(server, 'SIGCONT');
      server.signal('SIGINT');
    }
    await server?.exited;
    await folder[Symbol.asyncDispose]();
  };
  try {
    await giveAway(folder.path);
    await runUnprivileged(join(binaries, 'initdb'), ['-D', data, '-U', 'signalbox', '-A', 'trust', '-E', 'UTF8', '-N']);
    await launch();
  } catch (error) {
    await dispose();
    throw error;
  }
  const running = (): RunningChild => {
    if (server === undefined) throw new Error('PostgreSQL was not started');
    return server;
  };
  const ask = async (sql: string, values: readonly string[] = []) => {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'signalbox', database: 'postgres' });
    await client.connect();
    const { rows } = await client.query(sql, [...values]);
    await client.end();
    return rows;
  };
  const stop = async () => {
    running().signal('SIGINT');
    await running().exited;
  };
  return {
    get pid() {
      return running().pid;
    },
    freeze: () => signalAll(running(), 'SIGSTOP'),
    thaw: () => signalAll(running(), 'SIGCONT'),
    kill: async () => void (await running().kill()),
    stop,
    start: launch,
    async createDatabase(name) {
      await ask(`CREATE DATABASE ${name}`);
      return `postgres://signalbox@127.0.0.1:${port}/${name}`;
    },
    connections: async (url) => (await ask(`SELECT pid ${CONNECTIONS}`, [nameIn(url)])).length,
    async lock(url, table) {
      const client = new pg.Client(url);
      await client.connect();
      await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
      return () => client.end();
    },
    cut: async (url) => void (await ask(`SELECT pg_terminate_backend(pid) ${CONNECTIONS}`, [nameIn(url)])),
    backUp: () => backUp({ data, folder: folder.path, stop, launch }),
    [Symbol.asyncDispose]: dispose,
  };
}

const CONNECTIONS = 'FROM pg_stat_activity WHERE datname = $1';
const nameIn = (url: string): string => new URL(url).pathname.slice(1);

/** Every connection is served by a process of its own. */
function signalAll({ pid }: RunningChild, signal: NodeJS.Signals): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  process.kill(pid, signal);
  for (const child of children) {
    try {
      process.kill(Number(child), signal);
    } catch (error) {
      // One whose connection has ended meanwhile.
      if (Object(error).code !== 'ESRCH') throw error;
    }
  }
}

const settings = (data: string, sockets: string, port: number): string[] => [
  '-D',
  data,
  '-p',
  String(port),
  '-k',
  sockets,
  '-c',
  'listen_addresses=127.0.0.1',
  '-c',
  'fsync=off',
  '-c',
  'full_page_writes=off',
  '-c',
  'max_connections=60',
  '-c',
  'logging_collector=off',
  '-c',
  'log_destination=stderr',
];
