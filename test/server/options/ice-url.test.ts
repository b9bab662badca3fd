/** URLs of STUN and TURN servers, compared with the parser of a real browser. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OptionError, readOptions } from '../../../src/server/options/options.ts';
import { launchBrowser, type Person, type TestBrowser } from '../../support/browser.ts';
import { type PageServer, startPageServer } from '../../support/page-server.ts';

const turnSecrets = ['s'.repeat(16)];
const read = (url: string): readonly string[] =>
  /^turns?:/i.test(url)
    ? readOptions({ turnUrls: [url], turnSecrets }).turnUrls
    : readOptions({ stunUrls: [url] }).stunUrls;

/** Accepted, and the normal form that clients are given. */
const ACCEPTED: readonly (readonly [url: string, normal: string])[] = [
  ['stun:stun.example.org', 'stun:stun.example.org'],
  ['stun:stun.example.org:3478', 'stun:stun.example.org:3478'],
  ['STUN:stun.example.org:1', 'stun:stun.example.org:1'],
  ['Stuns:STUN.example.org:65535', 'stuns:STUN.example.org:65535'],
  ['stun:stun_1.example-host.org.', 'stun:stun_1.example-host.org.'],
  ['stun:localhost', 'stun:localhost'],
  ['stun:192.0.2.1:3478', 'stun:192.0.2.1:3478'],
  ['stun:[2001:db8::1]', 'stun:[2001:db8::1]'],
  ['stun:[::ffff:192.0.2.1]:3478', 'stun:[::ffff:192.0.2.1]:3478'],
  ['stun:b\u00fccher.example:3478', 'stun:xn--bcher-kva.example:3478'],
  ['turn:turn.example.org', 'turn:turn.example.org'],
  ['TURN:turn.example.org?transport=UDP', 'turn:turn.example.org?transport=udp'],
  ['turns:turn.example.org:443?transport=tcp', 'turns:turn.example.org:443?transport=tcp'],
  ['turn:[2001:db8::1]:3478?transport=udp', 'turn:[2001:db8::1]:3478?transport=udp'],
];

/** The browser throws on each of them. */
const MALFORMED = [
  ['0', '99999', '65536', '-1', '+3478', '0x10', 'port', '', '3478;x', '3478:', '34 78', '\uff13'].map(
    (port) => `stun:stun.example.org:${port}`,
  ),
  ['stun:', 'stun', 'stun:a:b:c', 'stun::3478', 'stun:2001:db8::1', 'turn:::1:3478', 'stun:[2001:db8::1', 'turn:'],
  ['stun:"host"', 'stun:<host>', 'stun:{host}', 'stun:a\\b', 'stun:a b', 'stun://host', 'turn://host', 'stun:host/'],
  [
    'stun:host/path',
    'stun:host#x',
    'stun:user@host',
    'turn:user:password@host',
    'http://host',
    'host:3478',
    'host',
    '',
  ],
  ['stun:host?transport=udp', 'turn:host?transport=tls', 'turn:host?transport=', 'turn:host?', 'turn:host?x=y'],
  ['turn:host?transport=udp&x=1', 'turn:host?transport=udp#x'],
].flat();

/** The browser accepts them, and no host of that name can exist. */
const MISTAKES = [
  [
    'stun:$STUN_SERVER',
    'stun:*',
    'stun:-',
    'stun:a..b',
    'stun:.host',
    'stun:host%20x',
    'stun:host,other',
    'stun:host!',
  ],
  ['stun:256.1.1.1', 'stun:1.2.3', 'stun:[zz]', 'stun:[192.0.2.1]', 'stun:[fe80::1%25eth0]'],
].flat();

test.each(ACCEPTED)('%s is accepted, and clients are given %s', (url, normal) => {
  expect(read(url)).toEqual([normal]);
});

test.each([...MALFORMED, ...MISTAKES])('%j is refused at start, and the error says what is expected', (url) => {
  expect(() => read(url)).toThrow(OptionError);
  expect(() => read(url)).toThrow(/^(stun|turn)Urls: .*expected a URL such as (stun|turn):/);
});

test('a STUN URL is no TURN URL, and the reverse', () => {
  expect(() => readOptions({ stunUrls: ['turn:host'] })).toThrow('does not begin with stun: or stuns:');
  expect(() => readOptions({ turnUrls: ['stun:host'], turnSecrets })).toThrow('does not begin with turn: or turns:');
});

describe('in Chromium', () => {
  let browser: TestBrowser;
  let pages: PageServer;
  let person: Person;
  beforeAll(async () => {
    [browser, pages] = await Promise.all([launchBrowser(), startPageServer()]);
    pages.put('/', '<!doctype html>');
    person = await browser.person(`${pages.origin}/`);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await pages?.[Symbol.asyncDispose]();
  });

  /** Those of the URLs on which `new RTCPeerConnection` throws. */
  const thrownOn = (urls: readonly string[]): Promise<string[]> =>
    person.page.evaluate(
      (all) =>
        all.filter((url) => {
          try {
            new RTCPeerConnection({ iceServers: [{ urls: [url], username: 'user', credential: 'password' }] }).close();
            return false;
          } catch {
            return true;
          }
        }),
      urls,
    );

  test('every accepted URL makes a connection, and so does its normal form', async () => {
    expect(await thrownOn(ACCEPTED.flat())).toEqual([]);
  });

  test('the malformed ones throw, so refusing them loses nobody a server', async () => {
    expect(await thrownOn(MALFORMED)).toEqual(MALFORMED);
  });
});
