/** The Origin header: which pages may connect. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOriginCheck } from '../../../src/server/limits/origins.ts';
import { OptionError, readOptions } from '../../../src/server/options/options.ts';
import { listening } from '../../support/log.ts';
import { type Nodes, startNodes } from '../../support/nodes.ts';
import { RawSocket } from '../../support/raw-socket.ts';

const HOST = 'signal.example.org';
const check = (origin: string | undefined, allowed: string[] = [], host: string | undefined = HOST) =>
  createOriginCheck(readOptions({ allowedOrigins: allowed }).allowedOrigins)({
    headers: { ...(origin !== undefined && { origin }), ...(host !== undefined && { host }) },
  });

describe('the rule', () => {
  test.each([
    ['a client without Origin, which is not a browser', undefined],
    ['the same host', `https://${HOST}`],
    ['the same host in capitals', `HTTPS://${HOST.toUpperCase()}`],
    ['the same host before a proxy that ends TLS', `http://${HOST}`],
    ['localhost', 'http://localhost:5173'],
    ['localhost by IPv4', 'http://127.0.0.1:8080'],
    ['localhost by IPv6', 'http://[::1]:8080'],
  ])('admits %s', (_, origin) => {
    expect(check(origin)).toBe(true);
  });

  test('treats a default port like a missing port', () => {
    expect(check('https://signal.example.org', [], 'signal.example.org:443')).toBe(true);
    expect(check('https://app.example.org', ['https://app.example.org:443/'])).toBe(true);
    expect(check('https://signal.example.org', [], 'signal.example.org:8443')).toBe(false);
  });

  test.each([
    ['a foreign site', 'https://evil.example'],
    ['a site whose name begins like ours', `https://${HOST}.evil.example`],
    ['a site whose name ends like ours', `https://evil-${HOST}`],
    ['a subdomain', `https://www.${HOST}`],
    ['another port', `https://${HOST}:8443`],
    ['our name as a user', `https://${HOST}@evil.example`],
    ['localhost as a label', 'http://localhost.evil.example'],
    ['127.0.0.1 as a user', 'http://127.0.0.1@evil.example'],
    ['a sandboxed frame', 'null'],
    ['a file', 'file://'],
    ['an extension', `chrome-extension://${HOST}`],
    ['an empty Origin', ''],
    ['an invalid URL', 'not a url'],
    ['two origins', `https://${HOST} https://evil.example`],
    ['control characters', `https://${HOST}\u0000.evil.example`],
    ['an URL of the same host', `https://${HOST}/path`],
    ['a user at the same host', `https://user@${HOST}`],
    ['an app', 'capacitor://localhost'],
  ])('refuses %s', (_, origin) => {
    expect(check(origin)).toBe(false);
  });

  test('admits exactly the origins of a list', () => {
    const allowed = ['https://app.example.com', 'http://Dev.example.com:3000/'];
    expect(check('https://app.example.com', allowed)).toBe(true);
    expect(check('https://APP.example.com', allowed)).toBe(true);
    expect(check('http://dev.example.com:3000', allowed)).toBe(true);
    expect(check('null', allowed)).toBe(false);
    expect(check('http://app.example.com', allowed)).toBe(false);
    expect(check('https://app.example.com:8443', allowed)).toBe(false);
    expect(check('https://app.example.com.evil.example', allowed)).toBe(false);
  });

  test.each([
    ['another default port', 'http://app.example.org:80', 'http://app.example.org'],
    ['a port with a zero before it', 'https://app.example.org:0443', 'https://app.example.org'],
    ['a name in another script', 'https://b\u00fccher.example', 'https://xn--bcher-kva.example'],
    ['the same name as browsers send it', 'https://xn--bcher-kva.example', 'https://xn--bcher-kva.example'],
    ['IPv6 written in full', 'https://[2001:DB8:0:0:0:0:0:1]:443', 'https://[2001:db8::1]'],
    ['capitals', 'HTTPS://APP.EXAMPLE.ORG', 'https://app.example.org'],
  ])('normalises an entry of the web: %s', (_, entry, origin) => {
    expect(readOptions({ allowedOrigins: [entry] }).allowedOrigins).toEqual([origin]);
    expect(check(origin, [entry])).toBe(true);
    expect(check('null', [entry])).toBe(false);
  });

  const APPS = [
    'capacitor://localhost',
    'ionic://localhost',
    'tauri://localhost',
    'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
    'moz-extension://2ae0b3a4-1b1f-4b8f-9d3b-6d3c1f6b9d1e',
    'app://.',
    'my.app+x://host:8080',
  ];
  test.each(APPS)('admits the app %s and neither null nor another app', (app) => {
    for (const allowed of [[app], [app.toUpperCase(), 'https://app.example.org']]) {
      expect(check(app, allowed)).toBe(true);
      for (const other of ['null', 'NULL', '', 'file://', `${app}x`, `${app}/path`, 'other://localhost'])
        expect(check(other, allowed)).toBe(false);
    }
  });

  test.each(
    [
      ['null', 'NULL', 'localhost', 'localhost:5173', 'app.example.org', 'app.example.org:8443', '//app.example.org'],
      [
        'https:app.example.org',
        'https:/app.example.org',
        'https:\\\\app.example.org',
        'https://',
        'capacitor://',
        '://x',
      ],
      [
        'https://app.example.org/path',
        'https://app.example.org//',
        'https://app.example.org?',
        'https://app.example.org#',
      ],
      [
        'https://user@app.example.org',
        'https://user:pass@app.example.org',
        'https://@app.example.org',
        'x://user@host',
      ],
      [
        'https://*.example.org',
        'https://*',
        '*.example.org',
        '**',
        'https://app.example.org:*',
        '*://localhost',
        'x://*',
      ],
      ['https://app.example.org:', 'https://app.example.org:0', 'https://app.example.org:65536', 'x://host:port'],
      ['https://$HOST', 'https://{host}', 'https://"app.example.org"', "'https://app.example.org'", 'https://a,b'],
      ['https://app.exa mple.org', 'https://[::1'],
      ['https://::1', 'https://256.1.1.1', 'file://', 'file:///', 'file://host', 'ws://app.example.org', 'about:blank'],
      ['wss://app.example.org', 'ftp://app.example.org', 'data:text/html,x', 'blob:https://app.example.org'],
    ].flat(),
  )('refuses the entry %j at start, and says what is expected', (entry) => {
    const read = () => readOptions({ allowedOrigins: ['https://app.example.org', entry] });
    expect(read).toThrow(OptionError);
    expect(read).toThrow(/^allowedOrigins: .*expected scheme:\/\/host\[:port\]/);
  });

  test('admits every origin with a star', () => {
    for (const origin of ['https://evil.example', 'null', 'not a url']) expect(check(origin, ['*'])).toBe(true);
  });

  test('refuses a page when the request has no Host', () => {
    expect(createOriginCheck([])({ headers: { origin: `https://${HOST}` } })).toBe(false);
  });
});

describe('at the handshake', () => {
  let nodes: Nodes;
  beforeAll(async () => {
    nodes = await startNodes(
      { kind: 'memory', count: 1 },
      { allowedOrigins: ['https://app.example.com'], transports: ['websocket', 'polling'] },
    );
  });
  afterAll(() => nodes[Symbol.asyncDispose]());

  const port = () => Number(new URL(nodes.url(0)).port);

  test('a listed page is welcomed', async () => {
    await using socket = await RawSocket.join(port(), { Origin: 'https://app.example.com' });
    expect(socket.open).toBe(true);
  });

  test.each(['https://evil.example', 'null', '\u00ff\u00fe', 'x'.repeat(4000)])(
    'a foreign page is refused with 403 over WebSocket: %.20s',
    async (origin) => {
      await expect(RawSocket.open(port(), { Origin: origin })).rejects.toThrow('refused with 403');
    },
  );

  test('an app that is listed is welcomed, and a sandboxed frame is refused', async () => {
    await using app = await startNodes({ kind: 'memory', count: 1 }, { allowedOrigins: ['capacitor://localhost'] });
    const appPort = Number(new URL(app.url(0)).port);
    await using socket = await RawSocket.join(appPort, { Origin: 'capacitor://localhost' });
    expect(socket.open).toBe(true);
    await expect(RawSocket.open(appPort, { Origin: 'null' })).rejects.toThrow('refused with 403');
  });

  test('a foreign page is refused with 403 over polling', async () => {
    const path = `${nodes.url(0)}/socket.io/?EIO=4&transport=polling`;
    const reply = await fetch(path, { headers: { origin: 'https://evil.example' } });
    expect(reply.status).toBe(403);
    expect(await reply.json()).toMatchObject({ message: REFUSED });
  });
});

const REFUSED = 'origin https://evil.example was refused: allow it with allowedOrigins';

test('the log names each refused origin once, at most a hundred, in printable characters', async () => {
  const { log, lines } = listening();
  await using nodes = await startNodes({ kind: 'memory', count: 1 }, {}, { log });
  const address = new URL(nodes.url(0));
  const refuse = (Origin: string) =>
    expect(RawSocket.open(Number(address.port), { Origin })).rejects.toThrow('refused with 403');
  await refuse('https://evil.example');
  await refuse('https://evil.example');
  await refuse('\u00ff');
  for (let page = 0; page < 120; page += 1) await refuse(`https://page-${page}.example`);
  const warnings = lines.filter((line) => line.startsWith('warn origin '));
  expect(warnings.slice(0, 3)).toEqual([
    `warn ${REFUSED}`,
    'warn origin ?? was refused: allow it with allowedOrigins',
    'warn origin https://page-0.example was refused: allow it with allowedOrigins',
  ]);
  expect(warnings).toHaveLength(100);
});

test('the answer to a refused upgrade contains the reason', async () => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 });
  const { port, host } = new URL(nodes.url(0));
  const socket = connect(Number(port), '127.0.0.1');
  const head = ['GET /socket.io/?EIO=4&transport=websocket HTTP/1.1', `Host: ${host}`, 'Connection: Upgrade'];
  const more = ['Upgrade: websocket', 'Origin: https://evil.example', '', ''];
  socket.write([...head, ...more].join('\r\n'));
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
  expect(answer.split('\r\n\r\n')[1]).toBe(REFUSED);
});
