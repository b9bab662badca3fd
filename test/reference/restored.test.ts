/** A database that is restored from a backup while nodes go on: noticed, its numbers skipped, an alarm raised; on real stores. */
import { expect, test } from 'vitest';
import { createReferenceGenerator, type ReferenceNotice } from '../../src/index.ts';
import { SKIP_AFTER_RESTORE } from '../../src/reference/ledger.ts';
import { DATABASE_HOSTS } from '../database/database-hosts.ts';
import { startRedis } from '../support/redis.ts';
import { retry } from '../support/retry.ts';

test.each(DATABASE_HOSTS)('a restored $name database is noticed, and no number is repeated', async ({ start }) => {
  await using stage = await start();
  await using redis = await startRedis();
  const ledger = await stage.empty();
  const notices: ReferenceNotice[] = [];
  const generator = () =>
    createReferenceGenerator({
      redis: redis.url,
      ledger,
      outageMs: 0,
      minBlock: 50,
      onNotice: (it) => notices.push(it),
    });
  const first = generator();
  const issued = await first.generateMany('order', 100);
  await first.close();
  const restore = await stage.backUp(ledger);
  const second = generator();
  issued.push(...(await retry(() => second.generateMany('order', 1_000))));
  await second.close();
  expect(notices).toEqual([]);
  await restore();
  // A new process, which knows no numbers in use: Redis does.
  const third = generator();
  for (let count = 0; count < 4; count += 1) {
    issued.push(...(await retry(() => third.generateMany('order', 500))));
  }
  await third.close();
  expect(new Set(issued).size).toBe(issued.length);
  expect(notices).toEqual([expect.objectContaining({ kind: 'ledger-behind', itemType: 'order' })]);
  expect(notices[0]?.seed).toBeLessThan(notices[0]?.inUse ?? 0);
  expect(third.parse(issued.at(-1) ?? '').sequence).toBeGreaterThan(SKIP_AFTER_RESTORE);
});
