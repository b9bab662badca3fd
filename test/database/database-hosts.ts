/** Hosts of databases for contract tests: a folder of SQLite files, PostgreSQL and MariaDB. */
import { copyFile, readdir, readFile, readlink, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Sqlite from 'libsql';
import type { DatabaseServer } from '../support/database.ts';
import { startMariadb } from '../support/mariadb.ts';
import { startPostgres } from '../support/postgres.ts';
import { temporaryFolder } from '../support/process.ts';

export interface DatabaseHost extends AsyncDisposable {
  /** Creates an empty database. @returns its URL */
  empty(): Promise<string>;
  /** Backs up that database. @returns a function that restores it. */
  backUp(url: string): Promise<() => Promise<void>>;
  /** Makes the database hang. @returns a function that ends it */
  freeze(url: string): Promise<() => void>;
  /** Number of open connections, or open files. */
  connections(url: string): Promise<number>;
  /** Closes the connections on the server's side, if there are connections. */
  cut(url: string): Promise<void>;
  /** Undefined for SQLite. */
  readonly server: DatabaseServer | undefined;
}

export const DATABASE_HOSTS: readonly { readonly name: string; readonly start: () => Promise<DatabaseHost> }[] = [
  { name: 'SQLite', start: onFiles },
  { name: 'PostgreSQL', start: async () => onServer(await startPostgres()) },
  { name: 'MariaDB', start: async () => onServer(await startMariadb()) },
];

async function onFiles(): Promise<DatabaseHost> {
  const folder = await temporaryFolder();
  let count = 0;
  return {
    empty: async () => {
      count += 1;
      return `sqlite:${join(folder.path, `ledger-${count}`, 'signalbox.db')}`;
    },
    async backUp(url) {
      const path = url.slice('sqlite:'.length);
      await copyFile(path, `${path}.backup`);
      // As operators do it: a new file in its place, while processes have the old one open.
      return async () => {
        await copyFile(`${path}.backup`, `${path}.restored`);
        await Promise.all(['wal', 'shm'].map((kind) => rm(`${path}-${kind}`, { force: true })));
        await rename(`${path}.restored`, path);
      };
    },
    // As a process that hangs in the middle of a transaction.
    async freeze(url) {
      const database = new Sqlite(url.slice('sqlite:'.length));
      database.exec('BEGIN IMMEDIATE');
      return () => {
        database.exec('COMMIT');
        database.close();
      };
    },
    connections: async (url) =>
      (await filesOpen()).filter((path) => path.startsWith(url.slice('sqlite:'.length))).length,
    cut: async () => {},
    server: undefined,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** Paths of this process's open files. libsql closes a file after its last statement is garbage-collected. */
async function filesOpen(): Promise<string[]> {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const numbers = await readdir('/proc/self/fd');
  // A file descriptor that is closed meanwhile has no path any more.
  return Promise.all(numbers.map((number) => readlink(`/proc/self/fd/${number}`).catch(() => '')));
}

function onServer(server: DatabaseServer): DatabaseHost {
  let count = 0;
  return {
    empty: () => {
      count += 1;
      return server.createDatabase(`ledger_${count}`);
    },
    backUp: () => server.backUp(),
    async freeze() {
      server.freeze();
      await untilStopped(server.pid);
      return () => server.thaw();
    },
    connections: (url) => server.connections(url),
    cut: (url) => server.cut(url),
    server,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** SIGSTOP is delivered to each thread of a process in turn: until then, a thread may still answer. */
async function untilStopped(pid: number): Promise<void> {
  const threads = await readdir(`/proc/${pid}/task`);
  const stats = await Promise.all(
    threads.map((id) => readFile(`/proc/${pid}/task/${id}/stat`, 'utf8').catch(() => '')),
  );
  if (stats.every((stat) => stat === '' || /\) T /.test(stat))) return;
  await new Promise((resolve) => setTimeout(resolve, 5));
  await untilStopped(pid);
}
