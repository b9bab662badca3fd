/**
 * How many references a second one process issues, against what a bare INCR gives in the same round: one after the
 * other, a thousand at once, and many in one call. With Redis and a database, and with the database alone.
 */
import { join } from 'node:path';
import { createClient } from 'redis';
import { temporaryFolder } from '../test/support/process.ts';
import { startRedis } from '../test/support/redis.ts';
import { type Round, type Row, toRow } from './figures.ts';

const ROUNDS = 20;
/** The first of them are for the compilers, here and in Redis, and for the first blocks. */
const WARM_UP = 5;
const ONE_BY_ONE = 1_000;
const AT_ONCE = 1_000;
const IN_ONE_CALL = 10_000;

/** What is shipped, as it is shipped. */
const built = (): Promise<typeof import('../src/index.ts')> =>
  import(new URL('../dist/index.js', import.meta.url).href);

/** Microseconds for each of so many. */
async function each(count: number, work: () => Promise<unknown>): Promise<number> {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1_000 / count;
}

const inTurn = (count: number, work: () => Promise<unknown>) => async () => {
  for (let done = 0; done < count; done += 1) await work();
};

const atOnce = (count: number, work: () => Promise<unknown>) => () => Promise.all(Array.from({ length: count }, work));

interface Sides {
  readonly what: string;
  readonly count: number;
  readonly ours: () => Promise<unknown>;
  readonly bare: () => Promise<unknown>;
}

async function compare({ what, count, ours, bare }: Sides): Promise<Row> {
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const one = { ours: await each(count, ours), bare: await each(count, bare) };
    if (round >= WARM_UP) rounds.push(one);
  }
  return toRow(`references: ${what}`, 'µs', rounds);
}

export async function benchReference(): Promise<Row[]> {
  await using redis = await startRedis();
  await using folder = await temporaryFolder();
  const { createReferenceGenerator } = await built();
  const ledger = `sqlite:${join(folder.path, 'bench.db')}`;
  const shared = createReferenceGenerator({ redis: redis.url, ledger, buffered: ['room'] });
  const alone = createReferenceGenerator({ ledger });
  const client = createClient({ url: redis.url, commandOptions: { timeout: 0 }, maintNotifications: 'disabled' });
  await client.connect();
  const incr = () => client.incr('bench:bare');
  const rows: Row[] = [];
  try {
    for (const [where, generator, type] of [
      ['Redis', shared, 'order'],
      ['Redis, held in memory', shared, 'room'],
      ['database alone', alone, 'user'],
    ] as const) {
      const one = () => generator.generate(type);
      rows.push(
        await compare({
          what: `${where}, one after the other`,
          count: ONE_BY_ONE,
          ours: inTurn(ONE_BY_ONE, one),
          bare: inTurn(ONE_BY_ONE, incr),
        }),
        await compare({
          what: `${where}, ${AT_ONCE} at once`,
          count: AT_ONCE,
          ours: atOnce(AT_ONCE, one),
          bare: atOnce(AT_ONCE, incr),
        }),
      );
    }
    rows.push(
      await compare({
        what: `Redis, ${IN_ONE_CALL} in one call`,
        count: IN_ONE_CALL,
        ours: () => shared.generateMany('order', IN_ONE_CALL),
        bare: atOnce(IN_ONE_CALL, incr),
      }),
    );
    return rows;
  } finally {
    client.destroy();
    await Promise.all([shared.close(), alone.close()]);
  }
}
