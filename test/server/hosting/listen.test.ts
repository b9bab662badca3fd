/** A server that cannot listen fails with one line that names the option to change. */
import { type FastifyListenOptions, fastify } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { createServer, type PartialOptions, type SignalboxServer } from '../../../src/index.ts';
import { listen } from '../../../src/server/hosting/listen.ts';
import { readOptions } from '../../../src/server/options/options.ts';
import { runSignalbox } from '../../support/signalbox.ts';
import { startHttpHost } from './http-host.ts';

test('a port in use is refused with the name of the option', async () => {
  await using other = await startHttpHost();
  const why = `port: 127.0.0.1:${other.port} is in use; stop the process that listens there, or choose another port`;
  await expect(createServer({ host: '127.0.0.1', port: other.port, demo: false })).rejects.toThrow(why);
  const args = ['serve', '--host', '127.0.0.1', '--port', String(other.port), '--log-level', 'silent'];
  expect(await runSignalbox(args)).toEqual({ code: 1, stdout: '', stderr: `signalbox: ${why} (from --port)\n` });
  expect(await (await fetch(other.url)).text()).toBe('own');
});

test.each([
  ['an address of another machine', '203.0.113.7', /^host: 203\.0\.113\.7 is not an address of this machine$/],
  ['an invalid address', 'no such host', /^host: /],
])('%s is refused with the name of the option', async (_, host, why) => {
  await expect(createServer({ host, port: 0, demo: false })).rejects.toThrow(why);
});

test.each([{}, { host: '::' }, { host: '[::]' }, { host: '0:0:0:0:0:0:0:0' }])(
  'a server with %j answers over IPv6 and over IPv4, and its url is that of this machine',
  async (options) => {
    const server = await started({ ...options, port: 0, demo: false });
    expect(server.url).toBe(`http://localhost:${server.port}`);
    for (const host of ['[::1]', '127.0.0.1', 'localhost'])
      expect((await fetch(`http://${host}:${server.port}/healthz`)).status, host).toBe(200);
  },
);

test('an address is its own url, in brackets where it is of IPv6, and is the only one that answers', async () => {
  const server = await started({ host: '::1', port: 0, demo: false });
  expect(server.url).toBe(`http://[::1]:${server.port}`);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  await expect(fetch(`http://127.0.0.1:${server.port}/healthz`)).rejects.toThrow('fetch failed');
});

test.each(['EAFNOSUPPORT', 'EADDRNOTAVAIL'])(
  'where the kernel has no IPv6 (%s), all addresses are those of IPv4',
  async (code) => {
    const app = fastify();
    onTestFinished(() => app.close());
    app.get('/', async () => 'here');
    const listenOn = app.listen.bind(app);
    // Of a kernel without IPv6 only the answer can be made here: it refuses the wildcard address.
    const refuseWildcard = async (options: FastifyListenOptions): Promise<string> => {
      if (options.host === '::') throw Object.assign(new Error(`listen ${code}: :::0`), { code });
      return await listenOn(options);
    };
    // Cast: the other forms of `listen`, with callbacks, are not used.
    app.listen = refuseWildcard as typeof app.listen;
    const { url, port } = await listen(app, readOptions({ port: 0 }));
    expect(url).toBe(`http://localhost:${port}`);
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('here');
    await expect(listen(fastify(), readOptions({ host: '203.0.113.7', port: 0 }))).rejects.toThrow('is not an address');
  },
);

test.each(['', ' ', '*', 'http://0.0.0.0', '0.0.0.0:3000', '256.0.0.1', '0', '[::1', '::1]', ':::', '$HOST', 'a b'])(
  'the host %j is refused before anything is started',
  async (host) => {
    await expect(createServer({ host, port: 0, demo: false })).rejects.toThrow(
      expect.objectContaining({ name: 'OptionError', option: 'host' }),
    );
  },
);

async function started(options: PartialOptions): Promise<SignalboxServer> {
  const server = await createServer(options);
  onTestFinished(() => server.close());
  return server;
}
