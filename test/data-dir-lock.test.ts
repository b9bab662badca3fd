/** The lock of the data directory: one node at a time. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createReferenceGenerator, createServer } from '../src/index.ts';
import { temporaryFolder } from './support/process.ts';
import { startSignalbox } from './support/signalbox.ts';

const LOCAL = { host: '127.0.0.1', port: 0, demo: false } as const;
const inUse = (dataDir: string) =>
  `${dataDir} is in use by another node: give this one a dataDir of its own, or stop the other`;

test('a second node in the same directory does not start until the first has closed', async () => {
  await using folder = await temporaryFolder();
  const dataDir = folder.path;
  const first = await createServer({ ...LOCAL, dataDir });
  await expect(createServer({ ...LOCAL, dataDir })).rejects.toThrow(inUse(dataDir));
  await expect(createServer({ ...LOCAL, dataDir: join(dataDir, '.') })).rejects.toThrow('in use by another node');
  await first.close();
  const next = await createServer({ ...LOCAL, dataDir });
  await next.close();
});

test('a node whose start failed has released the directory', async () => {
  await using folder = await temporaryFolder();
  const dataDir = folder.path;
  await using other = await startSignalbox();
  await expect(createServer({ ...LOCAL, port: other.port, dataDir })).rejects.toThrow(
    'is in use; stop the process that listens there',
  );
  await (await createServer({ ...LOCAL, dataDir })).close();
});

test('a node of another process holds the directory until it dies, and references can be issued beside it', async () => {
  await using folder = await temporaryFolder();
  const dataDir = folder.path;
  await using running = await startSignalbox({ dataDir });
  await expect(createServer({ ...LOCAL, dataDir })).rejects.toThrow(inUse(dataDir));
  const references = createReferenceGenerator({ ledger: `sqlite:${join(dataDir, 'signalbox.db')}` });
  expect(await references.generate('order')).toMatch(/^ORD\d{12}$/);
  await references.close();
  await running.child.kill();
  // The folder goes with the process that was started in it.
  await mkdir(dataDir, { recursive: true });
  await (await createServer({ ...LOCAL, dataDir })).close();
});

test('nodes that share a database may share the directory', async () => {
  await using folder = await temporaryFolder();
  const options = { ...LOCAL, dataDir: folder.path, databaseUrl: `sqlite:${join(folder.path, 'shared.db')}` };
  const servers = await Promise.all(['one', 'two'].map((nodeId) => createServer({ ...options, nodeId })));
  await Promise.all(servers.map((server) => server.close()));
});

test('a directory that cannot be created is named with the reason', async () => {
  await expect(createServer({ ...LOCAL, dataDir: '/dev/null/data' })).rejects.toThrow(
    /^dataDir: nothing can be kept in \/dev\/null\/data \(ENOTDIR/,
  );
});
