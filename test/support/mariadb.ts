import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { executableOf } from '../../scripts/services.ts';
import { backUp } from './backup.ts';
import type { DatabaseServer } from './database.ts';
import { freePort, type RunningChild, startChild, temporaryFolder } from './process.ts';
import { giveAway, unprivileged } from './unprivileged.ts';

/** A real MariaDB of one's own on a free port of 127.0.0.1, without users: it makes what it needs in an empty folder. */
export async function startMariadb(): Promise<DatabaseServer> {
  const program = executableOf('mariadb');
  const folder = await temporaryFolder();
  const data = join(folder.path, 'data');
  const port = await freePort();
  let server: RunningChild | undefined;
  const launch = async () => {
    server = await startChild({
      ...unprivileged(program, settings(data, folder.path, port)),
      ready: /ready for connections/,
      startMs: 60_000,
      stopMs: 20_000,
    });
  };
  const running = (): RunningChild => {
    if (server === undefined) throw new Error('MariaDB was not started');
    return server;
  };
  const dispose = async () => {
    await server?.kill(); // nobody needs what it has kept
    await folder[Symbol.asyncDispose]();
  };
  try {
    await mkdir(data);
    await giveAway(folder.path);
    await giveAway(data);
    await launch();
  } catch (error) {
    await dispose();
    throw error;
  }
  const ask = async <T>(question: (connection: Connection) => Promise<T>): Promise<T> => {
    const connection = await createConnection({ host: '127.0.0.1', port, user: 'root' });
    const answer = await question(connection);
    await connection.end();
    return answer;
  };
  const stop = async () => void (await running().stop());
  return {
    get pid() {
      return running().pid;
    },
    freeze: () => running().signal('SIGSTOP'),
    thaw: () => running().signal('SIGCONT'),
    kill: async () => void (await running().kill()),
    stop,
    start: launch,
    async createDatabase(name) {
      await ask((connection) => connection.query(`CREATE DATABASE ${name}`));
      return `mysql://root@127.0.0.1:${port}/${name}`;
    },
    connections: (url) => ask(async (connection) => (await connectionsTo(connection, url)).length),
    async lock(url, table) {
      const connection = await createConnection(url);
      await connection.query(`LOCK TABLES ${table} WRITE`);
      return () => connection.end();
    },
    cut: (url) =>
      ask(async (connection) => {
        for (const id of await connectionsTo(connection, url)) await connection.query(`KILL ${id}`);
      }),
    backUp: () => backUp({ data, folder: folder.path, stop, launch }),
    [Symbol.asyncDispose]: dispose,
  };
}

async function connectionsTo(connection: Connection, url: string): Promise<number[]> {
  const sql = 'SELECT id FROM information_schema.processlist WHERE db = ?';
  const [rows] = await connection.query<RowDataPacket[]>(sql, [new URL(url).pathname.slice(1)]);
  return rows.map((row) => Number(row['id']));
}

const settings = (data: string, folder: string, port: number): string[] => [
  '--no-defaults',
  `--datadir=${data}`,
  `--port=${port}`,
  '--bind-address=127.0.0.1',
  '--skip-grant-tables',
  `--socket=${join(folder, 'socket')}`,
  `--pid-file=${join(folder, 'pid')}`,
  `--tmpdir=${folder}`,
  '--innodb-buffer-pool-size=16M',
  '--innodb-log-file-size=4M',
  '--innodb-flush-method=nosync',
];
