/** The records' file cannot grow, as on a full disk: rooms go on, health says why, and no call is missing once it can. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import { findCall } from '../../src/records/read.ts';
import { connectClient } from '../support/client.ts';
import { temporaryFolder } from '../support/process.ts';
import { retry } from '../support/retry.ts';
import { startSignalbox } from '../support/signalbox.ts';

const ADMIN_TOKEN = 'an-admin-token-of-a-test-0123456789';

/** Bounds the size of the files that a running process may write. Every write behind it fails with EFBIG. */
const limitFiles = (pid: number, bytes: number | 'unlimited'): void =>
  void execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);

test('records wait while the disk is full, health names the reason, and all are complete afterwards', async () => {
  await using folder = await temporaryFolder();
  await using server = await startSignalbox({ dataDir: folder.path, adminToken: ADMIN_TOKEN });
  await using client = await connectClient(server.url);
  const call = async (): Promise<string> => {
    const { room } = await client.must('room:create');
    await client.must('room:close');
    return room.ref;
  };
  const recordsHealth = async (): Promise<unknown> => {
    const answer = await fetch(`${server.url}/readyz`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
    expect(answer.status).toBe(200);
    // Cast: only this field is read.
    return ((await answer.json()) as { stores: { records: unknown } }).stores.records;
  };
  const reader = openDatabase(`sqlite:${join(folder.path, 'signalbox.db')}`);
  const recorded = (ref: string) =>
    retry(async () => expect(await findCall(reader, ref)).toMatchObject({ reason: 'closed', complete: true }));
  const refs = [await call()];
  await recorded(refs[0] ?? '');

  limitFiles(server.child.pid, 0);
  for (let count = 0; count < 5; count += 1) refs.push(await call());
  const why = expect.stringMatching(/^SQLITE_(FULL|IOERR_WRITE)$/);
  await retry(async () => expect(await recordsHealth()).toMatchObject({ state: 'down', reason: why, work: 'record' }));
  refs.push(await call());

  limitFiles(server.child.pid, 'unlimited');
  for (const ref of refs) await recorded(ref);
  await retry(async () => expect(await recordsHealth()).toMatchObject({ state: 'up' }));
  await reader.close();
});
