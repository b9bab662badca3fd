/** Two nodes with one database of which a table is locked, or a link is dead: calls are recorded as soon as it answers. */
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import { createServer } from '../../src/index.ts';
import { findCall, listCalls, readLost } from '../../src/records/read.ts';
import { connectClient } from '../support/client.ts';
import { startMariadb } from '../support/mariadb.ts';
import { startPostgres } from '../support/postgres.ts';
import { startProxy } from '../support/proxy.ts';
import { startRedis } from '../support/redis.ts';
import { retry } from '../support/retry.ts';

const POOL = 4;

/** A call of one member, on that node. @returns its ref */
async function call(url: string): Promise<string> {
  await using client = await connectClient(url);
  const { room } = await client.must('room:create');
  await client.must('room:close');
  return room.ref;
}

describe.concurrent.each([
  { name: 'PostgreSQL', startServer: startPostgres },
  { name: 'MariaDB', startServer: startMariadb },
])('$name', ({ startServer }) => {
  test('a lock on the records and then a dead link: no more connections than the pools have, and no call is missing', async () => {
    await using redis = await startRedis();
    await using database = await startServer();
    const url = await database.createDatabase('calls');
    await using proxy = await startProxy(Number(new URL(url).port));
    const start = (databaseUrl: string) =>
      createServer({ host: '127.0.0.1', port: 0, demo: false, redisUrl: redis.url, databaseUrl });
    const one = await start(url);
    const two = await start(url.replace(/:\d+\//, `:${proxy.port}/`));
    const reader = openDatabase(url);
    const recorded = (ref: string) =>
      retry(async () => expect(await findCall(reader, ref)).toMatchObject({ reason: 'closed', complete: true }));
    const refs = [await call(one.url), await call(two.url)];
    for (const ref of refs) await recorded(ref);

    const release = await database.lock(url, 'signalbox_calls');
    // Each attempt of the recorders takes a second and is repeated after a while.
    for (let count = 0; count < 12; count += 1) {
      refs.push(await call(count % 2 === 0 ? one.url : two.url));
      await expect(reader.rows('SELECT COUNT(*) FROM signalbox_feeds')).resolves.toHaveLength(1);
      // The pools of two nodes and of the reader, and the lock's own connection.
      expect(await database.connections(url)).toBeLessThanOrEqual(3 * POOL + 1);
    }
    await release();
    await recorded(refs.at(-1) ?? '');

    let isDead = false;
    proxy.onUp((chunk) => {
      isDead ||= chunk.includes('UPDATE signalbox_feeds');
      if (isDead) proxy.freeze();
    });
    // Either node may be the one that records it.
    while (!isDead) refs.push(await call(two.url));
    refs.push(await call(one.url), await call(two.url));
    for (const ref of refs) await recorded(ref);
    expect(await database.connections(url)).toBeLessThanOrEqual(3 * POOL);
    proxy.thaw();

    await Promise.all([one.close(), two.close()]);
    const { calls } = await listCalls(reader, { limit: 1_000 });
    expect(calls.map(({ ref }) => ref).sort()).toEqual([...refs].sort());
    expect(calls.every(({ complete }) => complete)).toBe(true);
    expect(await readLost(reader)).toEqual({ events: 0, signals: 0 });
    await reader.close();
  });
});
