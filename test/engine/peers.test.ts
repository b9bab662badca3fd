/** Announcements of nodes: every client of Redis can publish on their channel. */
import { describe, expect, test } from 'vitest';
import { Peers } from '../../src/engine/redis/peers.ts';

const ADDRESS = 'http://10.0.0.5:3000';

const announcement = (nodeId: string, addresses: readonly unknown[]) => JSON.stringify({ nodeId, addresses });

describe('an announcement that is not one is dropped', () => {
  test.each([
    '',
    'no JSON',
    '[]',
    'null',
    '{}',
    announcement('', [ADDRESS]),
    announcement('x'.repeat(65), [ADDRESS]),
    announcement(
      'node',
      Array.from({ length: 9 }, () => ADDRESS),
    ),
    announcement('node', [1]),
    announcement('node', [null]),
    ...[
      'https://10.0.0.5:3000',
      'file:///etc/passwd',
      'http://10.0.0.5',
      'http://10.0.0.5:0',
      'http://10.0.0.5:300000',
      'http://10.0.0.5:3000/',
      'http://10.0.0.5:3000/v1/rooms?',
      'http://10.0.0.5:3000#',
      'http://user@10.0.0.5:3000',
      'http://user:secret@10.0.0.5:3000',
      'http://10.0.0.5:3000\n',
      'http://10.0.0.5:3000 http://other:1',
      'http://-host:3000',
      'http://ho%73t:3000',
      'http://[::1%25eth0]:3000',
      `http://${'a'.repeat(300)}:3000`,
    ].map((address) => announcement('node', [address])),
  ])('%j', (text) => {
    const peers = new Peers('self', () => {});
    expect(peers.receive(text)).toBe(false);
    expect(peers.addresses).toEqual([]);
  });
});

test.each([ADDRESS, 'http://[fe80::1]:3000', 'http://node-1.internal:65535', 'http://n:1'])(
  '%s is an address',
  (address) => {
    const peers = new Peers('self', () => {});
    expect(peers.receive(announcement('node', [address]))).toBe(true);
    expect(peers.addresses).toEqual([address]);
  },
);

test('however many nodes are announced, few are remembered, and those that fall silent make room', () => {
  const texts: string[] = [];
  const peers = new Peers('self', (text) => texts.push(text));
  for (let number = 0; number < 10_000; number += 1) peers.receive(announcement(`node-${number}`, [ADDRESS]));
  expect(peers.addresses).toHaveLength(16);
  peers.announce([ADDRESS]);
  for (let times = 0; times < 4; times += 1) peers.receive(texts[0] ?? '');
  expect(peers.addresses).toEqual([]);
  peers.receive(announcement('late', ['http://late:1']));
  expect(peers.addresses).toEqual(['http://late:1']);
});
