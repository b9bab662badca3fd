/** Time limits in the database server: what a client no longer waits for ends there too. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, DatabaseUnavailable } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import * as limits from '../../src/database/time-limits.ts';
import type { DatabaseServer } from '../support/database.ts';
import { startMariadb } from '../support/mariadb.ts';
import { startPostgres } from '../support/postgres.ts';
import { startProxy } from '../support/proxy.ts';
import { retry } from '../support/retry.ts';
import { ADD, ALL } from './rows.ts';

const TABLE = 'signalbox_records';
const RAISE = `UPDATE ${TABLE} SET highest = highest + 1 WHERE prefix = 'A'`;
const POOL = 4;

/** Each waits for the locked table. */
const WAITING: readonly ((database: Database) => Promise<unknown>)[] = [
  (database) => database.rows(ALL),
  (database) => database.run(RAISE),
  (database) => database.transaction((queries) => queries.run(RAISE)),
  (database) => database.transaction((queries) => queries.rows(ALL)),
  (database) => database.rows(`SELECT COUNT(*) FROM ${TABLE}`),
  (database) => database.transaction((queries) => queries.run(`DELETE FROM ${TABLE} WHERE prefix = 'Z'`)),
];

const servers: Partial<Record<'PostgreSQL' | 'MariaDB', DatabaseServer>> = {};

beforeAll(async () => {
  [servers.PostgreSQL, servers.MariaDB] = await Promise.all([startPostgres(), startMariadb()]);
});
afterAll(async () => {
  await servers.PostgreSQL?.[Symbol.asyncDispose]();
  await servers.MariaDB?.[Symbol.asyncDispose]();
});

let count = 0;
const createDatabase = (server: DatabaseServer | undefined): Promise<string> => {
  count += 1;
  return (server ?? expect.unreachable()).createDatabase(`calls_${count}`);
};

/** Two databases at one URL, the first behind a proxy. */
async function twoNodes(name: keyof typeof servers) {
  const server = servers[name] ?? expect.unreachable();
  const url = await createDatabase(server);
  const proxy = await startProxy(Number(new URL(url).port));
  const one = openDatabase(url.replace(/:\d+\//, `:${proxy.port}/`));
  const two = openDatabase(url);
  await two.run(ADD, ['A', 2026, 1]);
  await one.rows(ALL);
  return {
    url,
    server,
    one,
    two,
    proxy,
    async [Symbol.asyncDispose]() {
      await Promise.all([one.close(), two.close()]);
      await proxy.close();
    },
  };
}

const longest = { postgres: 'SELECT pg_sleep(600)', mysql: 'SELECT SLEEP(600)', sqlite: '' };

test('every limit of the server is below the one of its client, and that below the one of a call', () => {
  const { LOCK_MS, STATEMENT_MS, ANSWER_MS, CALL_MS, IDLE_MS, MIGRATION_STATEMENT_MS, answerMsOf } = limits;
  const ascending = [LOCK_MS, STATEMENT_MS, ANSWER_MS, CALL_MS, IDLE_MS, MIGRATION_STATEMENT_MS];
  expect(ascending).toEqual([...ascending].sort((a, b) => a - b));
  expect(answerMsOf(STATEMENT_MS)).toBe(ANSWER_MS);
  expect(answerMsOf(MIGRATION_STATEMENT_MS)).toBeGreaterThan(MIGRATION_STATEMENT_MS);
});

// At the same time: they do little but wait.
describe.concurrent.each(['PostgreSQL', 'MariaDB'] as const)('%s', (name) => {
  test('a locked table never makes two nodes hold more connections than their pools', async () => {
    await using nodes = await twoNodes(name);
    const release = await nodes.server.lock(nodes.url, TABLE);
    let isLocked = true;
    let most = 0;
    const count = async (): Promise<void> => {
      while (isLocked) most = Math.max(most, await nodes.server.connections(nodes.url));
    };
    const counting = count();
    const refused = async (ask: () => Promise<unknown>): Promise<void> => {
      for (let times = 0; times < 2; times += 1) await expect(ask()).rejects.toThrow(DatabaseUnavailable);
    };
    await Promise.all([nodes.one, nodes.two].flatMap((node) => WAITING.map((ask) => refused(() => ask(node)))));
    isLocked = false;
    await counting;
    await release();
    // One more is the lock's.
    expect(most).toBeLessThanOrEqual(2 * POOL + 1);
    for (const ask of WAITING) await retry(() => ask(nodes.one));
    for (const ask of WAITING) await retry(() => ask(nodes.two));
  });

  test('a statement that never ends is ended in the server, and its connection goes on', async () => {
    await using nodes = await twoNodes(name);
    const forever = longest[nodes.two.dialect];
    const asked = [1, 2, 3, 4].map(() => nodes.two.rows(forever));
    // MariaDB says that its SLEEP was interrupted, by a row.
    await Promise.allSettled(asked);
    expect(await nodes.two.rows(ALL)).toHaveLength(1);
    expect(await nodes.server.connections(nodes.url)).toBeLessThanOrEqual(2 * POOL);
  });

  test('a link that goes dead inside a transaction holds up the other node for seconds only', async () => {
    await using nodes = await twoNodes(name);
    const { one, two, proxy } = nodes;
    proxy.onUp((chunk) => {
      if (chunk.includes('UPDATE')) proxy.freeze();
    });
    await expect(one.transaction((queries) => queries.run(RAISE))).rejects.toThrow(DatabaseUnavailable);
    // The server alone can release the lock: it is not told that the connection has ended.
    await expect(two.run(RAISE)).rejects.toThrow(DatabaseUnavailable);
    await retry(() => two.run(RAISE));
    expect(await nodes.server.connections(nodes.url)).toBeLessThanOrEqual(2 * POOL);
    proxy.thaw();
    expect(await retry(() => one.rows(ALL))).toMatchObject([{ prefix: 'A' }]);
  });

  test('a link that goes dead while a start looks for the tables holds the start up for seconds only', async () => {
    await using nodes = await twoNodes(name);
    const starting = openDatabase(nodes.url.replace(/:\d+\//, `:${nodes.proxy.port}/`));
    const stop = nodes.proxy.onUp((chunk) => {
      if (!chunk.includes('signalbox_migrations')) return;
      stop();
      nodes.proxy.halfOpen();
    });
    await retry(async () => expect(await starting.rows(ALL)).toHaveLength(1));
    await starting.close();
  });

  test('an unfinished transaction that sends nothing is ended, and the next one succeeds', async () => {
    await using nodes = await twoNodes(name);
    let wake = (): void => {};
    const idle = nodes.one.transaction(async (queries) => {
      await queries.run(RAISE);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      await queries.run(RAISE);
    });
    await expect(idle).rejects.toThrow(DatabaseUnavailable);
    await retry(() => nodes.two.run(RAISE));
    wake();
    expect(await retry(() => nodes.one.run(RAISE))).toBe(1);
    const [row] = await nodes.two.rows(`SELECT highest FROM ${TABLE}`);
    expect(Number(row?.['highest'])).toBe(3);
  });
});

test.concurrent('limits of PostgreSQL are those of a transaction: a pooler hands none of them on to other programs', async () => {
  await using nodes = await twoNodes('PostgreSQL');
  const changed = `SELECT name FROM pg_settings WHERE setting <> reset_val AND name NOT LIKE 'tcp\\_%' ORDER BY name`;
  const inside = await nodes.two.rows(changed);
  expect(inside.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['idle_in_transaction_session_timeout', 'lock_timeout', 'statement_timeout']),
  );
  const [outside] = await nodes.two.transaction(async (queries) => {
    await queries.run('COMMIT');
    return queries.rows(
      "SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock",
    );
  });
  expect(outside).toEqual({ statement: '0', lock: '0' });
});

test.concurrent('options in the URL cannot make the client give up before the server', async () => {
  const url = await createDatabase(servers.PostgreSQL);
  const database = openDatabase(`${url}?query_timeout=1&statement_timeout=600000&lock_timeout=600000`);
  await database.run(ADD, ['A', 2026, 1]);
  const [row] = await database.rows("SELECT current_setting('statement_timeout') AS ms FROM pg_sleep(0.05)");
  expect(row).toEqual({ ms: `${limits.STATEMENT_MS}ms` });
  await database.close();
});
