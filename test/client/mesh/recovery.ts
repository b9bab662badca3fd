/** What becomes of a connection when pages, the server or the network come and go. */
import type { PeerState } from '../../../src/client/index.ts';
import type { IceServer } from '../../../src/protocol/index.ts';
import { type Counted, connections, connectionsMade, counted, hurry, later } from './counters.ts';
import { FakeRooms, refusal, type SentSignal, until } from './fake-rooms.ts';
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

/** More pictures come in than have come in by now. */
async function flowing(...sides: Side[]): Promise<void> {
  for (const side of sides) {
    const before = await frames(side);
    await until('pictures', async () => (await frames(side)) > before);
  }
}

/** Which ICE credentials each side has used so far. */
const attempts = ({ log }: FakeRooms): number =>
  new Set(log.flatMap(({ data }) => /a=ice-ufrag:(\S+)/.exec(JSON.stringify(data))?.[1] ?? [])).size / 2;

export interface Blink {
  readonly made: number;
  readonly attempts: number;
  readonly states: readonly PeerState[][];
}

/** One of them loses the server and comes back; meanwhile nothing arrives. */
export async function blink(who: 'early' | 'late'): Promise<Blink> {
  const stream = picture();
  const made = connectionsMade();
  const { world, early, late } = twoSides(undefined, { stream });
  await connected(early, late);
  await flowing(early, late);
  world.set(who, 'away');
  early.mesh.share(stream);
  late.mesh.share(stream);
  await flowing(early, late);
  world.set(who, 'present');
  world.rooms.get(who)?.emit('resumed', undefined);
  await until('the way is looked for again', () => attempts(world) === 2);
  await until('screens', () => early.peer.screen !== null && late.peer.screen !== null);
  await flowing(early, late);
  const states = [early, late].map((side) => [...side.states]);
  close(early, late);
  stop(stream);
  return { made: connectionsMade() - made, attempts: attempts(world), states };
}

export interface Refresh {
  readonly made: number;
  readonly ms: number;
  readonly states: readonly (readonly PeerState[])[];
}

/** Pages are loaded anew. What the old ones have said last is under way for so long that it comes in between. */
export async function refresh(...who: ('early' | 'late')[]): Promise<Refresh> {
  const { world, ...now } = twoSides();
  await worksFully(now.early, now.late);
  const made = connectionsMade();
  const last: SentSignal[] = [];
  world.network = (parcel) => void last.push(parcel);
  for (const name of who) now[name].mesh.share(still());
  await until('last words', () => who.every((name) => last.some(({ from }) => from === name)));
  world.network = ({ deliver }) => deliver();
  const start = performance.now();
  for (const name of who) {
    now[name].mesh.close();
    now[name] = sideOf(name, world.reload(name));
  }
  const before = world.log.length;
  await until('answered', () => JSON.stringify(world.log.slice(before)).includes('"answer"'));
  for (const { deliver } of last) deliver();
  await until('anew', () => areConnected(now.early, now.late));
  await exchangeData(now.early, now.late);
  const ms = performance.now() - start;
  await worksFully(now.early, now.late);
  const states = [now.early, now.late].map((side) => [...side.states]);
  close(now.early, now.late);
  return { made: connectionsMade() - made, ms, states };
}

/** The seat of the earlier one is lost, and so it becomes the later one. */
export async function rejoin(): Promise<string[]> {
  const { world, early, late } = twoSides();
  await worksFully(early, late);
  const before = world.log.length;
  world.rejoin('early');
  const offers = (): string[] =>
    world.log.slice(before).flatMap(({ from, data }) => (JSON.stringify(data).includes('"offer"') ? [from] : []));
  await until('offered', () => offers().length > 0);
  const [first] = offers();
  await worksFully(early, late);
  close(early, late);
  return [first ?? ''];
}

/** Nothing is begun with whoever is away, and what runs goes on. */
export async function away(): Promise<{ made: number; madeThen: number; peers: number[] }> {
  const before = connectionsMade();
  const world = new FakeRooms();
  const rooms = [world.join('early'), world.join('late')] as const;
  world.set('early', 'away');
  const late = sideOf('late', rooms[1]);
  await later(0);
  const made = connectionsMade() - before;
  const early = sideOf('early', rooms[0]);
  world.set('early', 'present');
  await worksFully(early, late);
  world.set('late', 'away');
  await exchangeData(early, late);
  const madeThen = connectionsMade() - before;
  world.leave('late');
  const peers = [early.mesh.peers.size, late.mesh.peers.size];
  close(early, late);
  return { made, madeThen, peers };
}

/** The connection of one side is gone without its mesh knowing of it, so it cannot be repaired: a new one has to be made. */
export async function beyondRepair(): Promise<{ states: readonly (readonly PeerState[])[] }> {
  const { early, late } = twoSides();
  await connected(early, late);
  const [ofEarly] = connections().filter(({ remoteDescription }) => remoteDescription?.type === 'offer');
  ofEarly?.close();
  hurry(10);
  await until('failed', () => late.peer.state === 'failed', 60_000);
  await worksFully(early, late);
  hurry(1);
  close(early, late);
  return { states: [late.states] };
}

/** Nobody answers: each attempt takes longer than the one before. */
export async function unanswered(): Promise<{ states: readonly PeerState[]; connections: number; waits: number[] }> {
  hurry(20);
  const world = new FakeRooms();
  world.join('early');
  const room = world.join('late');
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
  hurry(1);
  return { states: late.states, connections: open, waits };
}

/** Signals that are refused are sent again, and in order; those to whoever is away are not. */
export async function refused(): Promise<{ tries: number; order: string[] }> {
  const world = new FakeRooms();
  const order: string[] = [];
  let tries = 0;
  world.refuse = ({ data }) => {
    const isOffer = JSON.stringify(data).includes('"offer"');
    if (isOffer) tries += 1;
    if (tries > 0 && tries < 3) return refusal('RATE_LIMITED', 50);
    order.push(isOffer ? 'offer' : Object.keys(data).includes('candidate') ? 'candidate' : 'other');
    return undefined;
  };
  const { early, late } = twoSides(world);
  await connected(early, late);
  close(early, late);
  return { tries, order };
}

/** Closes at all sorts of moments, also from inside of the mesh's own events. @returns what was left each time. */
export async function closing(): Promise<Counted[]> {
  const left: Counted[] = [];
  const stream = picture();
  const end = async (sides: Side[], act: () => void): Promise<void> => {
    act();
    for (const { room } of sides) if (room.listeners > 0) throw new Error('the mesh still listens');
    for (const side of sides) if (side.mesh.peers.size > 0) throw new Error('the mesh still has peers');
    // Whatever was under way has the chance to open something.
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
    const { world, early, late } = twoSides(undefined, { stream });
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
    if (event === 'gone') world.leave('late');
    if (event === 'newcomer') world.join('third');
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

/** For a relay that comes and goes: what the page is asked for, step by step. */
let relayed: ReturnType<typeof twoSides> | undefined;
const relayedSides = (): Side[] => (relayed === undefined ? [] : [relayed.early, relayed.late]);

export async function beginRelayed(iceServers: readonly IceServer[]): Promise<void> {
  const world = new FakeRooms();
  world.iceServers = iceServers;
  relayed = twoSides(world, { iceTransportPolicy: 'relay', stream: picture() });
  await connected(...relayedSides());
  await flowing(...relayedSides());
}

export const relayedStates = (): PeerState[] => relayedSides().map(({ peer }) => peer.state);

export const relayedFrames = (): Promise<number[]> => Promise.all(relayedSides().map(frames));

export const relayedStats = () => relayed?.late.peer.stats();

export const endRelayed = (): void => close(...relayedSides());
