/** The example of `docs/protocol.md` as a program: two copies of it meet through a server and talk to each other. */
import { expect, test } from 'vitest';
import { createServer } from '../../src/index.ts';
import { unpackPeer } from '../support/peer-program.ts';
import { startChild } from '../support/process.ts';

test('two peers from the page open a room, join it and hear each other over a data channel', async () => {
  await using example = await unpackPeer();
  const server = await createServer({ host: '127.0.0.1', port: 0, demo: false });
  try {
    await using host = await startChild({ command: process.execPath, args: [example.path, server.url] });
    const code = (await host.line(/^code \d{6}$/)).slice('code '.length);
    await using guest = await startChild({ command: process.execPath, args: [example.path, server.url, code] });
    const greeting = /^(\S+) says: hello from \1$/;
    expect(await guest.line(greeting)).toBeTruthy();
    expect(await host.line(greeting)).toBeTruthy();
    expect([...host.lines, ...guest.lines].filter((line) => !/^code|says: hello/.test(line))).toEqual([]);
  } finally {
    await server.close();
  }
});
