/** What a server keeps on disk belongs to its user alone, whatever the umask and whatever was there before. */
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { lockDataDir } from '../../src/data-dir-lock.ts';
import { openDatabase } from '../../src/database/open.ts';
import { listening } from '../support/log.ts';
import { startChild, temporaryFolder } from '../support/process.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

async function modesIn(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).sort();
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await modeOf(join(folder, name))])));
}

test.each(['000', '022', '277'])(
  'signalbox serve makes its data directory for its user alone under umask %s',
  async (umask) => {
    await using folder = await temporaryFolder();
    const args = ['serve', '--host', '127.0.0.1', '--port', '0', '--demo', 'false'];
    await using child = await startChild({
      command: 'sh',
      args: ['-c', `umask ${umask}; exec "$0" "$@"`, process.execPath, MAIN, ...args],
      cwd: folder.path,
      env: { SIGNALBOX_DATA_DIR: undefined, DATABASE_URL: undefined, REDIS_URL: undefined },
      ready: /^ {2}codes /,
      startMs: 30_000,
    });
    expect(child.running).toBe(true);
    expect(await modeOf(join(folder.path, 'data'))).toBe('700');
    const modes = await modesIn(join(folder.path, 'data'));
    expect(Object.keys(modes)).toEqual(
      expect.arrayContaining(['signalbox.db', 'signalbox.db-shm', 'signalbox.db-wal', 'signalbox.lock']),
    );
    expect(new Set(Object.values(modes))).toEqual(new Set(['600']));
  },
);

test('what an older version has made is taken away from others', async () => {
  await using folder = await temporaryFolder();
  const dataDir = join(folder.path, 'data');
  await mkdir(dataDir, { mode: 0o755 });
  await using first = disposed(openDatabase(`sqlite:${join(dataDir, 'signalbox.db')}`));
  await first.open();
  await writeFile(join(dataDir, 'signalbox.lock'), '');
  for (const name of await readdir(dataDir)) await chmod(join(dataDir, name), 0o666);
  const unlock = await lockDataDir({ dataDir });
  await using second = disposed(openDatabase(`sqlite:${join(dataDir, 'signalbox.db')}`));
  await second.open();
  expect(await modeOf(dataDir)).toBe('700');
  const modes = await modesIn(dataDir);
  expect(Object.keys(modes)).toContain('signalbox.db-wal');
  expect(new Set(Object.values(modes))).toEqual(new Set(['600']));
  unlock?.();
});

test('a directory with other files keeps its mode, and the log says so', async () => {
  await using folder = await temporaryFolder();
  await chmod(folder.path, 0o755);
  await writeFile(join(folder.path, 'notes.txt'), '');
  const { log, lines } = listening();
  const unlock = await lockDataDir({ dataDir: folder.path }, log);
  expect(await modeOf(folder.path)).toBe('755');
  expect(await modeOf(join(folder.path, 'signalbox.lock'))).toBe('600');
  expect(JSON.stringify(lines)).toContain('chmod 700');
  unlock?.();
});

test('the directory of a database URL keeps its mode, and its file is for its user alone', async () => {
  await using folder = await temporaryFolder();
  await chmod(folder.path, 0o755);
  await using database = disposed(openDatabase(`sqlite:${join(folder.path, 'new', 'calls.db')}`));
  await database.open();
  expect([await modeOf(folder.path), await modeOf(join(folder.path, 'new'))]).toEqual(['755', '700']);
  expect(new Set(Object.values(await modesIn(join(folder.path, 'new'))))).toEqual(new Set(['600']));
});

const disposed = <Closable extends { close(): Promise<void> }>(closable: Closable): Closable & AsyncDisposable =>
  Object.assign(closable, { [Symbol.asyncDispose]: () => closable.close() });

test('a file that a database URL names keeps its mode, and the log says so', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'shared.db');
  await writeFile(path, '');
  await chmod(path, 0o660);
  const { log, lines } = listening();
  await using database = disposed(openDatabase(`sqlite:${path}`, log));
  await database.open();
  expect(await modeOf(path)).toBe('660');
  expect(JSON.stringify(lines)).toContain('chmod 600');
});
