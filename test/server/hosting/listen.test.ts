/** A server that cannot listen fails with one line that names the option to change. */
import { expect, test } from 'vitest';
import { createServer } from '../../../src/index.ts';
import { runSignalbox } from '../../support/signalbox.ts';
import { startHttpHost } from './http-host.ts';

test('a port in use is refused with the name of the option', async () => {
  await using other = await startHttpHost();
  const why = `port: 127.0.0.1:${other.port} is in use; stop the process that listens there, or choose another port`;
  await expect(createServer({ host: '127.0.0.1', port: other.port, demo: false })).rejects.toThrow(why);
  const args = ['serve', '--host', '127.0.0.1', '--port', String(other.port), '--log-level', 'silent'];
  expect(await runSignalbox(args)).toEqual({ code: 1, stdout: '', stderr: `signalbox: ${why}\n` });
  expect(await (await fetch(other.url)).text()).toBe('own');
});

test.each([
  ['an address of another machine', '203.0.113.7', /^host: 203\.0\.113\.7 is not an address of this machine$/],
  ['an invalid address', 'no such host', /^host: /],
])('%s is refused with the name of the option', async (_, host, why) => {
  await expect(createServer({ host, port: 0, demo: false })).rejects.toThrow(why);
});
