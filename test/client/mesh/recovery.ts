/** Connections while pages are refreshed, the server is lost, or members leave. */
import type { PeerState } from '../../../src/client/index.ts';
import type { IceServer } from '../../../src/protocol/index.ts';
import { type Counted, connections, connectionsMade, counted, later, speedUpTimers } from './counters.ts';
import { FakeServer, refusal, type SentSignal, until } from './fake-server.ts';
import {
  areConnected,
  close,
  connected,
  exchangeData,
  picture,
  type Side,
  sideOf,
  still,
  stop,
  twoSides,
  worksFully,
} from './two-sides.ts';

const frames = async ({ peer }: Side): Promise<number> => (await peer.stats()).framesDecoded;

/** Waits until more frames arrive. */
async function framesArrive(...sides: Side[]): Promise<void> {
  for (const side of sides) {
    const before = await frames(side);
    await until('pictures', async () => (await frames(side)) > before);
  }
}

/** Number of ICE sessions so far, by the credentials in the signals. */
const attempts = ({ log }: FakeServer): number =>
  new Set(log.flatMap(({ data }) => /a=ice-ufrag:(\S+)/.exec(JSON.stringify(data))?.[1] ?? [])).size / 2;

export interface ServerLost {
  readonly made: number;
  readonly attempts: number;
  readonly states: readonly PeerState[][];
}

/** One side loses the server and is back; no signal arrives meanwhile. */
export async function serverLost(who: 'early' | 'late'): Promise<ServerLost> {
  const stream = picture();
  const made = connectionsMade();
  const { server, early, late } = twoSides(undefined, { stream });
  await connected(early, late);
  await framesArrive(early, late);
  server.set(who, 'away');
  early.mesh.share(stream);
  late.mesh.share(stream);
  await framesArrive(early, late);
  server.set(who, 'present');
  server.rooms.get(who)?.emit('resumed', undefined);
  await until('ICE restart', () => attempts(server) === 2);
  await until('screens', () => early.peer.screen !== null && late.peer.screen !== null);
  await framesArrive(early, late);
  const states = [early, late].map((side) => [...side.states]);
  close(early, late);
  stop(stream);
  return { made: connectionsMade() - made, attempts: attempts(server), states };
}

export interface Refresh {
  readonly made: number;
  readonly ms: number;
  readonly states: readonly (readonly PeerState[])[];
}

/** Pages are refreshed. The last signals of the old pages arrive late, between those of the new ones. */
export async function refresh(...who: ('early' | 'late')[]): Promise<Refresh> {
  const { server, ...now } = twoSides();
  await worksFully(now.early, now.late);
  const made = connectionsMade();
  const last: SentSignal[] = [];
  server.network = (signal) => void last.push(signal);
  for (const name of who) now[name].mesh.share(still());
  await until('late signals', () => who.every((name) => last.some(({ from }) => from === name)));
  server.network = ({ deliver }) => deliver();
  const start = performance.now();
  for (const name of who) {
    now[name].mesh.close();
    now[name] = sideOf(name, server.reload(name));
  }
  const before = server.log.length;
  await until('answered', () => JSON.stringify(server.log.slice(before)).includes('"answer"'));
  for (const { deliver } of last) deliver();
  await until('connected again', () => areConnected(now.early, now.late));
  await exchangeData(now.early, now.late);
  const ms = performance.now() - start;
  await worksFully(now.early, now.late);
  const states = [now.early, now.late].map((side) => [...side.states]);
  close(now.early, now.late);
  return { made: connectionsMade() - made, ms, states };
}

/** The earlier member loses its seat, and becomes the later one with the next. */
export async function rejoin(): Promise<string[]> {
  const { server, early, late } = twoSides();
  await worksFully(early, late);
  const before = server.log.length;
  server.rejoin('early');
  const offers = (): string[] =>
    server.log.slice(before).flatMap(({ from, data }) => (JSON.stringify(data).includes('"offer"') ? [from] : []));
  await until('offered', () => offers().length > 0);
  const [first] = offers();
  await worksFully(early, late);
  close(early, late);
  return [first ?? ''];
}

/** No connection is begun with an away member, and a running one goes on. */
export async function away(): Promise<{ made: number; madeThen: number; peers: number[] }> {
  const before = connectionsMade();
  const server = new FakeServer();
  const rooms = [server.join('early'), server.join('late')] as const;
  server.set('early', 'away');
  const late = sideOf('late', rooms[1]);
  await later(0);
  const made = connectionsMade() - before;
  const early = sideOf('early', rooms[0]);
  server.set('early', 'present');
  await worksFully(early, late);
  server.set('late', 'away');
  await exchangeData(early, late);
  const madeThen = connectionsMade() - before;
  server.leave('late');
  const peers = [early.mesh.peers.size, late.mesh.peers.size];
  close(early, late);
  return { made, madeThen, peers };
}

/** The connection of one side is closed behind the back of its mesh, so it cannot be repaired: a new one is made. */
export async function beyondRepair(): Promise<{ states: readonly (readonly PeerState[])[] }> {
  const { early, late } = twoSides();
  await connected(early, late);
  const [ofEarly] = connections().filter(({ remoteDescription }) => remoteDescription?.type === 'offer');
  ofEarly?.close();
  speedUpTimers(10);
  await until('failed', () => late.peer.state === 'failed', 60_000);
  await worksFully(early, late);
  speedUpTimers(1);
  close(early, late);
  return { states: [late.states] };
}

/** No answer: each attempt takes longer than the one before. */
export async function unanswered(): Promise<{ states: readonly PeerState[]; connections: number; waits: number[] }> {
  speedUpTimers(20);
  const server = new FakeServer();
  server.join('early');
  const room = server.join('late');
  const late = sideOf('late', room);
  const before = connectionsMade();
  const begun: number[] = [];
  late.mesh.on('change', () => {
    if (connectionsMade() - before > begun.length) begun.push(performance.now());
  });
  await until('four attempts', () => begun.length === 4);
  const waits = begun.slice(1).map((time, index) => Math.round(((time - (begun[index] ?? 0)) * 20) / 1000));
  const open = counted().connections;
  close(late);
  speedUpTimers(1);
  return { states: late.states, connections: open, waits };
}

/** Refused signals are sent again, in order; those to an away member are not. */
export async function refused(): Promise<{ tries: number; order: string[] }> {
  const server = new FakeServer();
  const order: string[] = [];
  let tries = 0;
  server.refuse = ({ data }) => {
    const isOffer = JSON.stringify(data).includes('"offer"');
    if (isOffer) tries += 1;
    if (tries > 0 && tries < 3) return refusal('RATE_LIMITED', 50);
    order.push(isOffer ? 'offer' : Object.keys(data).includes('candidate') ? 'candidate' : 'other');
    return undefined;
  };
  const { early, late } = twoSides(server);
  await connected(early, late);
  close(early, late);
  return { tries, order };
}

/** Closes at different moments, also from listeners of the mesh. @returns what was still open each time */
export async function closing(): Promise<Counted[]> {
  const left: Counted[] = [];
  const stream = picture();
  const end = async (sides: Side[], act: () => void): Promise<void> => {
    act();
    for (const { room } of sides) if (room.listeners > 0) throw new Error('the mesh still listens');
    for (const side of sides) if (side.mesh.peers.size > 0) throw new Error('the mesh still has peers');
    // Time for pending work to open something.
    await later(50);
    left.push(counted());
  };
  for (const ms of [-1, 0, 5, 15, 30, 60, 120]) {
    const { early, late } = twoSides(undefined, { stream });
    early.mesh.share(stream);
    if (ms >= 0) await later(ms);
    await end([early, late], () => close(early, late));
  }
  for (const event of ['peer', 'change', 'share', 'data', 'gone', 'newcomer'] as const) {
    const { server, early, late } = twoSides(undefined, { stream });
    let isClosed = false;
    if (event === 'newcomer') await later(0);
    for (const side of [early, late]) {
      side.mesh.on(event === 'newcomer' ? 'peer' : event, () => {
        isClosed = true;
        close(early, late);
      });
    }
    await later(0);
    early.mesh.share(stream);
    if (event === 'data') await exchangeData(early, late);
    if (event === 'gone') server.leave('late');
    if (event === 'newcomer') server.join('third');
    await until(event, () => isClosed);
    await end([early, late], () => undefined);
  }
  const { early, late } = twoSides(undefined, { stream });
  await connected(early, late);
  late.mesh.share(stream);
  await end([early, late], () => {
    for (const { room } of [early, late]) room.end({ reason: 'closed' });
  });
  early.mesh.share(stream);
  early.mesh.setStream(stream);
  early.mesh.replaceTrack('video', null);
  left.push(counted());
  stop(stream);
  return left;
}

/** Two sides with a relay that the test stops and starts; each function is one step. */
let relayed: ReturnType<typeof twoSides> | undefined;
const relayedSides = (): Side[] => (relayed === undefined ? [] : [relayed.early, relayed.late]);

export async function beginRelayed(iceServers: readonly IceServer[]): Promise<void> {
  const server = new FakeServer();
  server.iceServers = iceServers;
  relayed = twoSides(server, { iceTransportPolicy: 'relay', stream: picture() });
  await connected(...relayedSides());
  await framesArrive(...relayedSides());
}

export const relayedStates = (): PeerState[] => relayedSides().map(({ peer }) => peer.state);

export const relayedFrames = (): Promise<number[]> => Promise.all(relayedSides().map(frames));

export const relayedStats = () => relayed?.late.peer.stats();

export const endRelayed = (): void => close(...relayedSides());
