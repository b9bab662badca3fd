/** Outages of the database: what callers get, and what is logged. */
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import { createGuard } from '../../src/records/guarded-queries.ts';
import { CursorMalformed, RecordsUnavailable } from '../../src/records/port.ts';
import { findCall, listCalls } from '../../src/records/read.ts';
import { listening } from '../support/log.ts';
import { temporaryFolder } from '../support/process.ts';

test('every query fails during an outage, and its cause is logged once per outage', async () => {
  await using folder = await temporaryFolder();
  const away = openDatabase('postgres://signalbox@127.0.0.1:1/none');
  const here = openDatabase(`sqlite:${folder.path}/signalbox.db`);
  const { log, lines, causes } = listening();
  const asked = createGuard(log);
  for (let times = 0; times < 2; times += 1) {
    await expect(asked(() => findCall(away, 'ROM1'))).rejects.toThrow(RecordsUnavailable);
    await expect(asked(() => listCalls(away, { limit: 1 }))).rejects.toThrow(RecordsUnavailable);
    expect(await asked(() => findCall(here, 'ROM1'))).toBeUndefined();
  }
  const outage = ['warn call records cannot be read', 'info call records can be read again'];
  expect(lines).toEqual([...outage, ...outage]);
  expect(String(causes[0])).toMatch(/ECONNREFUSED/);
  await Promise.all([away.close(), here.close()]);
});

test('an error that is no outage is rethrown, and no outage is logged', async () => {
  await using folder = await temporaryFolder();
  const database = openDatabase(`sqlite:${folder.path}/signalbox.db`);
  const { log, lines } = listening();
  const asked = createGuard(log);
  await expect(asked(() => listCalls(database, { limit: 1, cursor: 'bm8' }))).rejects.toThrow(CursorMalformed);
  await database.run('DROP TABLE signalbox_participants');
  await expect(asked(() => listCalls(database, { limit: 1, user: 'anna' }))).rejects.toThrow(/no such table/);
  expect(lines).toEqual([]);
  await database.close();
});
