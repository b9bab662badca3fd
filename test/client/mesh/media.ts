/** Cameras and screens: what is sent and received, and which changes need a negotiation. */
import type { Peer, PeerStats } from '../../../src/client/index.ts';
import { connections, later } from './counters.ts';
import { type FakeServer, until } from './fake-server.ts';
import { close, connected, exchangeData, picture, type Side, shows, sideOf, stop, twoSides } from './two-sides.ts';

const descriptions = ({ log }: FakeServer): number => log.filter(({ data }) => 'description' in data).length;

/** Distinct offers, by sender and number: an offer that is sent again is the same negotiation. */
const offers = ({ log }: FakeServer): number =>
  new Set(
    log.flatMap(({ from, data }) =>
      JSON.stringify(data['description'] ?? {}).includes('"offer"')
        ? `${from} ${JSON.stringify(data['negotiation'])}`
        : [],
    ),
  ).size;

/**
 * Every negotiation is over, and none follows from it. The barrier is `getStats`: its answer comes from WebRTC's own
 * thread, behind any `negotiationneeded` that the end of a negotiation has caused there.
 */
async function agreed(server: FakeServer): Promise<void> {
  await until('agreed', async () => {
    const signals = server.log.length;
    const isStable = (): boolean => connections().every(({ signalingState }) => signalingState === 'stable');
    if (!isStable()) return false;
    await Promise.all(connections().map((connection) => connection.getStats()));
    await later(0);
    return isStable() && signals === server.log.length;
  });
}

/** The track of the browser's fake microphone: beeps. */
async function beeps(): Promise<MediaStreamTrack> {
  const [track] = (await navigator.mediaDevices.getUserMedia({ audio: true })).getAudioTracks();
  if (track === undefined) throw new Error('no microphone');
  return track;
}

/** @returns the number of descriptions when connected, and at the end. */
export async function switching(): Promise<number[]> {
  const { server, early, late } = twoSides();
  await connected(early, late);
  const counts = [descriptions(server)];
  const [one, other] = [picture('tall'), picture('square')];
  const [ofOther] = other.getVideoTracks();
  early.mesh.setStream(one);
  late.mesh.setStream(one);
  await shows('tall', () => late.peer.stream);
  await shows('tall', () => early.peer.stream);
  early.mesh.replaceTrack('video', ofOther ?? null);
  await shows('square', () => late.peer.stream);
  const microphone = await beeps();
  early.mesh.replaceTrack('audio', microphone);
  await until('beeps', async () => (await soundPackets()) > 0);
  early.mesh.replaceTrack('video', null);
  late.mesh.setStream(null);
  early.mesh.setStream(one);
  await shows('tall', () => late.peer.stream);
  counts.push(descriptions(server));
  close(early, late);
  stop(one);
  stop(other);
  microphone.stop();
  return counts;
}

/** Audio packets that any connection has received. */
async function soundPackets(): Promise<number> {
  const reports = await Promise.all(connections().map((connection) => connection.getStats()));
  let packets = 0;
  for (const report of reports) {
    // The DOM types declare a report without its entries.
    for (const entry of (
      report as ReadonlyMap<string, { type: string; kind?: string; packetsReceived?: number }>
    ).values())
      if (entry.type === 'inbound-rtp' && entry.kind === 'audio') packets += entry.packetsReceived ?? 0;
  }
  return packets;
}

export interface Sharing {
  /** Tracks of a peer's camera and screen, in each phase. */
  readonly tracks: (number | null)[][];
  /** Transceivers of a connection, in each phase. */
  readonly transceivers: number[];
  readonly told: (string | null)[];
  /** How many negotiations each change took, while only one side changed anything. */
  readonly negotiations: Readonly<Record<'shared' | 'muted' | 'ended' | 'sharedAgain', number>>;
}

/** Both share beside their cameras, both end it, and one shares again: something else, with sound. */
export async function sharing(): Promise<Sharing> {
  const camera = picture();
  const { server, early, late } = twoSides(undefined, { stream: camera });
  await connected(early, late);
  const tracks: (number | null)[][] = [];
  const transceivers: number[] = [];
  const told: (string | null)[] = [];
  early.mesh.on('share', (screen) => told.push(screen === null ? null : 'screen'));
  const note = (): void => {
    tracks.push([early, late].flatMap(({ peer }) => [peer.stream.getTracks().length, count(peer.screen)]));
    transceivers.push(connections()[0]?.getTransceivers().length ?? 0);
  };
  const screens = [picture('wide'), picture('square')];
  const [first = camera, second = camera] = screens;
  early.mesh.share(first);
  late.mesh.share(second);
  await shows('wide', () => late.peer.screen);
  await shows('square', () => early.peer.screen);
  await shows('camera', () => late.peer.stream);
  note();
  early.mesh.share(null);
  late.mesh.share(null);
  await until('no screens', () => early.peer.screen === null && late.peer.screen === null);
  note();
  /** @returns how many negotiations the change took. */
  const taken = async (change: () => Promise<void>): Promise<number> => {
    await agreed(server);
    const before = offers(server);
    await change();
    await agreed(server);
    note();
    return offers(server) - before;
  };
  second.addTrack(await beeps());
  const shared = await taken(async () => {
    early.mesh.share(second);
    await shows('square', () => late.peer.screen);
    await until('its sound', () => count(late.peer.screen) === 2);
  });
  const muted = await taken(async () => {
    early.mesh.replaceTrack('video', null);
    await later(0);
    early.mesh.setStream(camera);
    await shows('camera', () => late.peer.stream);
  });
  // The browser's own button ends picture and sound in two events: here a whole negotiation would fit in between.
  const ended = await taken(async () => {
    for (const track of second.getTracks()) {
      track.stop();
      track.dispatchEvent(new Event('ended'));
      await agreed(server);
    }
    await until('ended', () => late.peer.screen === null);
  });
  const sharedAgain = await taken(async () => {
    early.mesh.share(first);
    await shows('wide', () => late.peer.screen);
  });
  close(early, late);
  for (const stream of [camera, ...screens]) stop(stream);
  return { tracks, transceivers, told, negotiations: { shared, muted, ended, sharedAgain } };
}

const count = (stream: MediaStream | null): number | null => stream?.getTracks().length ?? null;

/** A member that joins later sees the shared screen; a member with two peers sees both screens. */
export async function threeMembers(): Promise<number[]> {
  const { server, early, late } = twoSides();
  const screen = picture('wide');
  early.mesh.share(screen);
  await connected(early, late);
  const third = sideOf('third', server.join('third'));
  const screenOf = (side: Side, name: string): MediaStream | null =>
    [...side.mesh.peers.values()].find((peer: Peer) => peer.userId === name)?.screen ?? null;
  await shows('wide', () => screenOf(third, 'early'));
  third.mesh.share(screen);
  await shows('wide', () => screenOf(early, 'third'));
  await shows('wide', () => screenOf(late, 'third'));
  const peers = [early, late, third].map((side) => side.mesh.peers.size);
  close(early, late, third);
  stop(screen);
  return peers;
}

/** The stats before the connection, with the first frame, and with more of them. */
export async function statistics(): Promise<{ none: PeerStats; first: PeerStats; second: PeerStats }> {
  const stream = picture();
  const { early, late } = twoSides(undefined, { stream });
  await later(0);
  early.mesh.setStream(stream);
  const none = await early.peer.stats();
  await connected(early, late);
  await until('pictures', async () => (await late.peer.stats()).framesDecoded > 0);
  const first = await late.peer.stats();
  let second = first;
  await until('more pictures, and so a rate', async () => {
    second = await late.peer.stats();
    return second.framesDecoded > first.framesDecoded && second.receivedBitsPerSecond > 0;
  });
  close(early, late);
  stop(stream);
  return { none, first, second };
}

/** Fresh ICE servers are used by present and future connections. */
export async function servers(): Promise<unknown[]> {
  const { server, early, late } = twoSides();
  await connected(early, late);
  const before = server.log.length;
  server.iceServers = [{ urls: ['turn:127.0.0.1:9'], username: 'fresh', credential: 'secret' }];
  for (const room of server.rooms.values()) room.emit('ice', server.iceServers);
  const third = sideOf('third', server.join('third'));
  await until('three', () => connections().length === 6);
  const names = connections().map((connection) => connection.getConfiguration().iceServers?.[0]?.username);
  const negotiations = server.log
    .slice(before)
    .filter(({ from, to, data }) => 'description' in data && from !== 'third' && to !== 'third').length;
  await exchangeData(early, late);
  close(early, late, third);
  return [...names, negotiations];
}

/** Errors of two ICE servers, one of them repeated. @returns the faults that the mesh reports */
export async function faults(): Promise<unknown[]> {
  const told: unknown[] = [];
  const { early, late } = twoSides();
  late.mesh.on('fault', (fault) => told.push(fault));
  await connected(early, late);
  const complain = (errorCode: number, url: string): void => {
    const event = new RTCPeerConnectionIceErrorEvent('icecandidateerror', { errorCode, url, errorText: 'no' });
    for (const connection of connections()) connection.dispatchEvent(event);
  };
  complain(401, 'turn:one');
  complain(401, 'turn:one');
  complain(701, 'stun:one');
  complain(486, 'turn:two');
  close(early, late);
  return told;
}
