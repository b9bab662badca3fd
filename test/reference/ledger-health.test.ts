/** The health of the stores that references are counted in, while the database is locked, stopped, or missing. */
import { expect, test, vi } from 'vitest';
import { createReferenceGenerator } from '../../src/reference/from-options.ts';
import { whileSilent } from '../../src/reference/patient-start.ts';
import { ReferenceUnavailable } from '../../src/reference/port.ts';
import { logLines } from '../support/log.ts';
import { manualClock } from '../support/manual-clock.ts';
import { PATIENCE_MS } from '../support/patience-ms.ts';
import { startPostgres } from '../support/postgres.ts';

function startGenerator(ledger: string, buffered: readonly string[] = []) {
  const { log, lines } = logLines();
  const generator = createReferenceGenerator({ ledger, log, buffered, minBlock: 1, outageMs: 0 });
  const said = () => lines().flatMap(({ level, msg }) => (level >= 40 || msg.includes('works again') ? msg : []));
  return Object.assign(generator, { said, [Symbol.asyncDispose]: () => generator.close() });
}

test('a locked table is named by its code, once in the log, and the ledger is up again without a request', async () => {
  await using server = await startPostgres();
  const url = await server.createDatabase('ledger');
  await using generator = startGenerator(url);
  await generator.generate('order');
  expect(generator.health()).toMatchObject({ ledger: { state: 'up' } });
  const release = await server.lock(url, 'signalbox_seeds');
  for (let count = 0; count < 2; count += 1)
    await expect(generator.generateMany('order', 10)).rejects.toThrow(ReferenceUnavailable);
  const { ledger } = generator.health();
  expect(ledger).toEqual({ state: 'down', reason: '55P03', work: 'lease order', since: expect.any(Number) });
  await release();
  await vi.waitFor(() => expect(generator.health()).toMatchObject({ ledger: { state: 'up' } }), PATIENCE_MS);
  expect(generator.said()).toEqual(['the ledger of references does not work', 'the ledger of references works again']);
  // What was tried meanwhile has used no number.
  const [first] = await generator.generateMany('order', 10);
  expect(generator.parse(first ?? '').sequence).toBeLessThanOrEqual(3);
});

test('a database that is not there, or does not let this user in, is told by a code and no address', async () => {
  await using server = await startPostgres();
  const url = await server.createDatabase('ledger');
  const reasons = new Map([
    ['postgres://anna:hidden@127.0.0.1:1/none', 'ECONNREFUSED'],
    [url.replace(/\/ledger.*$/, '/missing'), '3D000'],
    ['sqlite:/dev/null/ledger.db', expect.stringMatching(/^(ENOTDIR|EEXIST|SQLITE_CANTOPEN)$/)],
  ]);
  for (const [ledger, reason] of reasons) {
    await using generator = startGenerator(ledger);
    await expect(generator.generate('order')).rejects.toThrow(ReferenceUnavailable);
    expect(generator.health().ledger).toMatchObject({ state: 'down', reason });
  }
});

test('a start waits for a ledger that is locked for some seconds', async () => {
  await using server = await startPostgres();
  const url = await server.createDatabase('ledger');
  await using first = startGenerator(url, ['room']);
  await first.prepare();
  const release = await server.lock(url, 'signalbox_seeds');
  await using second = startGenerator(url, ['room']);
  const starting = second.prepare();
  await vi.waitFor(
    () => expect(second.said()).toContain('the ledger of references is asked again before the start fails'),
    PATIENCE_MS,
  );
  await release();
  await starting;
  expect(await second.generate('room')).toMatch(/^ROM20/);
});

test('a start fails when the ledger has been silent for 15 seconds', async () => {
  const clock = manualClock();
  let attempts = 0;
  const attempt = async () => {
    attempts += 1;
    clock.advance(2_500);
    throw new ReferenceUnavailable('silence');
  };
  const { log } = logLines();
  await expect(whileSilent(attempt, { clock, log })).rejects.toThrow('silence');
  expect(attempts).toBe(6);
});
