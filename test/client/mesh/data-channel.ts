/** The data channel, and peers without it. */
import type { Json } from '../../../src/protocol/index.ts';
import { connections } from './counters.ts';
import { FakeServer, until } from './fake-server.ts';
import { SimplePeer } from './simple-peer.ts';
import { close, connected, dataChannelsOpen, exchangeData, type Side, sideOf, twoSides } from './two-sides.ts';

export interface DataBothWays {
  readonly heard: Json[];
  readonly refused: boolean[];
  readonly afterwards: boolean;
}

/** Data in both directions, and data that is too large. */
export async function dataBothWays(): Promise<DataBothWays> {
  const { early, late } = twoSides();
  const heard: Json[] = [];
  for (const side of [early, late]) side.mesh.on('data', ({ peer, data }) => heard.push([peer.userId, data]));
  await dataChannelsOpen(early, late);
  early.mesh.send({ deep: [1, null, 'ä€'] });
  await until('heard', () => heard.length === 1);
  late.peer.send('back');
  await until('heard', () => heard.length === 2);
  const largest = 'x'.repeat(64 * 1024 - 2);
  const refused = [early.peer.send(`${largest}x`), early.peer.send('€'.repeat(22_000)), early.peer.send(largest)];
  await until('the largest', () => heard.length === 3);
  heard.pop();
  // The buffer of the channel is limited.
  let sent = 0;
  while (sent < 1_000 && early.mesh.send(largest).length === 0) sent += 1;
  refused.push(sent < 1_000);
  await until('all of it', () => heard.length === 2 + sent);
  await exchangeData(early, late);
  const { peer } = early;
  close(early, late);
  return { heard: heard.slice(0, 2), refused, afterwards: peer.send('nobody is there') };
}

/** A peer sends anything on the channel after its greeting. @returns the data that the mesh reports */
export async function invalidData(): Promise<Json[]> {
  const { early, late } = twoSides();
  const heard: Json[] = [];
  late.mesh.on('data', ({ data }) => heard.push(data));
  await dataChannelsOpen(early, late);
  const offered = connections().find(({ remoteDescription }) => remoteDescription?.type === 'offer');
  const channel = offered?.channel;
  for (const text of ['', '{', 'undefined', '{"a":', `"${'x'.repeat(70_000)}"`, '['.repeat(60_000)])
    channel?.send(text);
  channel?.send(new Uint8Array([123, 125]));
  channel?.send('{"__proto__":{"a":1}}');
  channel?.send('signalbox 1');
  await exchangeData(early, late);
  close(early, late);
  return heard;
}

/** A peer sends invalid signals; afterwards the connection works. */
export async function invalidSignals(): Promise<number> {
  const { server, early, late } = twoSides();
  await connected(early, late);
  const own = server.log.find(({ from }) => from === 'late')?.data ?? {};
  const bad: Json[] = [
    null,
    0,
    'text',
    [],
    {},
    [[]],
    { description: null },
    { description: { type: 'offer' } },
    { hello: 1, page: 7 },
    { description: { type: 'rollback', sdp: '' } },
    { description: { type: 'answer', sdp: 'v=0' } },
    { description: { type: 'offer', sdp: 'nonsense' } },
    { candidate: {} },
    { candidate: 'text' },
    { candidate: { candidate: 'candidate:nonsense', sdpMid: '77' } },
    { candidate: { candidate: 7, sdpMLineIndex: -1 } },
    { connection: 'another', candidate: {} },
  ];
  for (const one of bad) {
    await server.signal('early', 'late', one);
    await server.signal('late', 'early', one);
  }
  for (const negotiation of [-1, null, 'one', 1e99])
    await server.signal('late', 'early', { ...own, negotiation } as Json);
  await exchangeData(early, late);
  close(early, late);
  return bad.length;
}

/** With a peer that is written as `docs/protocol.md` describes, in either role. */
export async function simplePeer(
  who: 'early' | 'late',
): Promise<{ canSend: boolean; sent: string[]; again: boolean; back: boolean }> {
  const server = new FakeServer();
  const rooms = { early: server.join('early'), late: server.join('late') };
  const begin = (): SimplePeer => new SimplePeer(rooms[who], who === 'late' ? 'early' : undefined);
  const own: Side = sideOf(who === 'early' ? 'late' : 'early', rooms[who === 'early' ? 'late' : 'early']);
  let peer = begin();
  await connected(own);
  const first = peer.connection;
  const sent = own.mesh.send('word').map(({ userId }) => userId);
  // A track needs a negotiation that this peer has not begun.
  own.mesh.setStream(document.createElement('canvas').captureStream(0));
  await until('seen', () => peer.tracks.length > 0);
  const { canSend } = own.peer;
  peer.close();
  rooms[who] = server.reload(who);
  peer = begin();
  await until('anew', () => own.peer.state === 'connected' && peer.isConnected);
  const again = peer.connection !== first;
  // It is the same process, and has closed its connection, as the protocol asks for.
  peer.close();
  peer = begin();
  server.blink(own.name);
  await until('once more', () => own.peer.state === 'connected' && peer.isConnected);
  close(own);
  peer.close();
  return { canSend, sent, again, back: peer.isConnected };
}
