/** The deadline around an await. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { withDeadline } from '../../src/support/deadline.ts';
import { temporaryFolder } from '../support/process.ts';

const missed = () => new Error('missed');

test('a promise that does not settle in time is rejected', async () => {
  await expect(withDeadline(new Promise(() => {}), 5, missed)).rejects.toThrow('missed');
});

test('a promise that settles in time keeps its outcome', async () => {
  await expect(withDeadline(Promise.resolve('reply'), 5, missed)).resolves.toBe('reply');
  await expect(withDeadline(Promise.reject(new Error('refused')), 5, missed)).rejects.toThrow('refused');
});

/** Replies to each line after a while, and then writes the file, which a stalled process can see. */
const REPLIER = `process.stdin.on('data', () => setTimeout(() => {
  process.stdout.write('reply', () => require('fs').writeFileSync(process.argv[1], ''));
}, 50))`;

test('a reply that has arrived while the event loop was stalled is in time', async () => {
  await using folder = await temporaryFolder();
  const written = join(folder.path, 'written');
  const child = spawn(process.execPath, ['-e', REPLIER, written], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.write('once, so that it runs\n');
  await once(child.stdout, 'data');
  await vi.waitFor(() => expect(existsSync(written)).toBe(true));
  rmSync(written);

  child.stdin.write('again\n');
  const reply = once(child.stdout, 'data').then(([data]) => String(data));
  // In the phase after reading sockets: the loop goes on with its timers.
  await new Promise((resolve) => setImmediate(resolve));
  const waiting = withDeadline(reply, 5, missed);
  const until = performance.now() + 30_000;
  while (!existsSync(written) && performance.now() < until);
  await expect(waiting).resolves.toBe('reply');
  child.kill();
});
