/** The data channel, and peers that know nothing of it. */
import type { Json } from '../../../src/protocol/index.ts';
import { connections } from './counters.ts';
import { FakeRooms, until } from './fake-rooms.ts';
import { SimplePeer } from './simple-peer.ts';
import { close, connected, dataChannelsOpen, exchangeData, type Side, sideOf, twoSides } from './two-sides.ts';

export interface Spoken {
  readonly heard: Json[];
  readonly refused: boolean[];
  readonly afterwards: boolean;
}

/** Data both ways, and what is too much. */
export async function spoken(): Promise<Spoken> {
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
  // The channel does not take for ever what the other one does not read.
  let sent = 0;
  while (sent < 1_000 && early.mesh.send(largest).length === 0) sent += 1;
  refused.push(sent < 1_000);
  await until('all of it', () => heard.length === 2 + sent);
  await exchangeData(early, late);
  const { peer } = early;
  close(early, late);
  return { heard: heard.slice(0, 2), refused, afterwards: peer.send('nobody is there') };
}

/** Whatever a peer puts on the channel after its greeting. @returns what came out of it. */
export async function garbage(): Promise<Json[]> {
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

/** Signals that nobody who means well would send; afterwards all is as before. */
export async function nonsense(): Promise<number> {
  const { world, early, late } = twoSides();
  await connected(early, late);
  const own = world.log.find(({ from }) => from === 'late')?.data ?? {};
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
    await world.signal('early', 'late', one);
    await world.signal('late', 'early', one);
  }
  for (const negotiation of [-1, null, 'one', 1e99])
    await world.signal('late', 'early', { ...own, negotiation } as Json);
  await exchangeData(early, late);
  close(early, late);
  return bad.length;
}

/** Beside a peer that speaks as the protocol's page does, in either role. */
export async function simple(
  who: 'early' | 'late',
): Promise<{ canSend: boolean; sent: string[]; again: boolean; back: boolean }> {
  const world = new FakeRooms();
  const rooms = { early: world.join('early'), late: world.join('late') };
  const begin = (): SimplePeer => new SimplePeer(rooms[who], who === 'late' ? 'early' : undefined);
  const own: Side = sideOf(who === 'early' ? 'late' : 'early', rooms[who === 'early' ? 'late' : 'early']);
  let peer = begin();
  await connected(own);
  const first = peer.connection;
  const sent = own.mesh.send('word').map(({ userId }) => userId);
  // Something to see needs a negotiation that it has not begun.
  own.mesh.setStream(document.createElement('canvas').captureStream(0));
  await until('seen', () => peer.tracks.length > 0);
  const { canSend } = own.peer;
  peer.close();
  rooms[who] = world.reload(who);
  peer = begin();
  await until('anew', () => own.peer.state === 'connected' && peer.isConnected);
  const again = peer.connection !== first;
  // Its process is the same, and as the protocol asks for, it has dropped what it had.
  peer.close();
  peer = begin();
  world.blink(own.name);
  await until('once more', () => own.peer.state === 'connected' && peer.isConnected);
  close(own);
  peer.close();
  return { canSend, sent, again, back: peer.isConnected };
}
