/** The URL that `connect` is given: the server is reached, or the program is told at once what is expected. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, SignalboxError } from '../../src/client/index.ts';
import { serverOrigin } from '../../src/client/server-origin.ts';
import { type MemoryNode, startMemoryNode } from '../support/memory-node.ts';
import { Clients, MemoryStore } from './harness.ts';

describe('a text that is not the URL of a server is refused at once', () => {
  test.each(
    [
      ['', ' ', '/', '/signal', './signal', 'signal', '?', '#', '//signal.example.org', '.', 'null', 'undefined'],
      [
        'localhost',
        'localhost:3000',
        'signal.example.org',
        'signal.example.org:443',
        '127.0.0.1:3000',
        '[::1]:3000',
        ':3000',
      ],
      [
        'ftp://signal.example.org',
        'file:///signal',
        'data:text/html,x',
        'javascript:0',
        'about:blank',
        'mailto:a@b.example',
      ],
      [
        'blob:https://signal.example.org/1',
        'capacitor://localhost',
        'socket.io://host',
        'redis://host',
        'httpx://host',
      ],
      [
        'https://h..',
        'http://h:0',
        'https:',
        'https://',
        'https:///',
        'http:3000',
        'https:signal.example.org',
        'https:/signal.example.org',
        'http://:3000',
      ],
      [
        'https:\\\\signal.example.org',
        'http://host:port',
        'http://host:65536',
        'http://ho st',
        'http://[::1',
        'http://256.1.1.1',
      ],
      [
        'https://$HOST',
        'https://{host}',
        'https://<host>',
        'https://%HOST%',
        'https://*',
        '"https://signal.example.org"',
      ],
    ].flat(),
  )('%j', (url) => {
    const attempt = () => connect(url, { store: null });
    expect(attempt).toThrow(SignalboxError);
    expect(attempt).toThrow(
      expect.objectContaining({ code: 'BAD_REQUEST', retryable: false, message: expect.stringContaining(EXPECTED) }),
    );
  });

  test.each([undefined, null, 3000, {}, []])('and so is %j from a program without types', (url) => {
    expect(() => connect(url as never, { store: null })).toThrow(SignalboxError);
  });
});

const EXPECTED = 'expected http:, https:, ws: or wss: and a host';

test.each([
  ['https://signal.example.org', 'https://signal.example.org'],
  ['HTTPS://Signal.Example.org:443/some/page?x#y', 'https://signal.example.org'],
  ['wss://signal.example.org', 'https://signal.example.org'],
  ['ws://localhost:3000/', 'http://localhost:3000'],
  ['WS://user:password@localhost:80', 'http://localhost'],
  ['http://[2001:DB8::1]:3000', 'http://[2001:db8::1]:3000'],
  ['http://b\u00fccher.example', 'http://xn--bcher-kva.example'],
  ['http://signal_1.example', 'http://signal_1.example'],
  [' https://signal.example.org\n', 'https://signal.example.org'],
])('the server of %j is %s', (url, origin) => {
  expect(serverOrigin(url)).toBe(origin);
});

describe('at a server', () => {
  let nodes: MemoryNode;
  beforeAll(async () => {
    nodes = await startMemoryNode();
  });
  afterAll(() => nodes[Symbol.asyncDispose]());

  test('a URL with ws: reaches it, and resumes the seat of one with http:', async () => {
    await using clients = new Clients();
    const store = new MemoryStore();
    const first = clients.connect(nodes.url(0), { store });
    const { code } = await first.create();
    const token = store.text;
    const second = clients.connect(nodes.url(0).replace('http:', 'ws:'), { store: new MemoryStore(token) });
    expect((await second.ready())?.code).toBe(code);
  });
});
