/** Two members, their meshes, and media to send: what most scenarios begin with. */
import { type Mesh, type MeshOptions, mesh, type Peer, type PeerState } from '../../../src/client/index.ts';
import { later } from './counters.ts';
import { type FakeRoom, FakeRooms, until } from './fake-rooms.ts';

export interface Side {
  readonly name: string;
  readonly room: FakeRoom;
  readonly mesh: Mesh;
  /** The other one. */
  readonly peer: Peer;
  /** Every state that the mesh told of, the same one once in a row. */
  readonly states: readonly PeerState[];
}

export interface TwoSides {
  readonly world: FakeRooms;
  /** Joined first: waits for the offer. */
  readonly early: Side;
  /** Makes the offer. */
  readonly late: Side;
}

export function sideOf(name: string, room: FakeRoom, options?: MeshOptions): Side {
  const own = mesh(room, options);
  const states: PeerState[] = [];
  own.on('change', ({ state }) => {
    if (state !== states.at(-1)) states.push(state);
  });
  return {
    name,
    room,
    mesh: own,
    states,
    get peer() {
      const [peer] = own.peers.values();
      if (peer === undefined) throw new Error('nobody is there');
      return peer;
    },
  };
}

/** Both are in the room before either has a mesh; `first` says whose is the first. */
export function twoSides(
  world = new FakeRooms(),
  options: MeshOptions = {},
  first: 'early' | 'late' = 'early',
): TwoSides {
  const rooms = { early: world.join('early'), late: world.join('late') };
  const begin = (name: 'early' | 'late'): Side => sideOf(name, rooms[name], options);
  if (first === 'early') return { world, early: begin('early'), late: begin('late') };
  const late = begin('late');
  return { world, early: begin('early'), late };
}

export const areConnected = (...sides: Side[]): boolean =>
  sides.every((side) => side.mesh.peers.size > 0 && side.peer.state === 'connected');

export const connected = (...sides: Side[]): Promise<void> => until('connected', () => areConnected(...sides));

export const dataChannelsOpen = (...sides: Side[]): Promise<void> =>
  until('greeted', () => sides.every((side) => side.mesh.peers.size > 0 && side.peer.canSend));

/** What one says over the data channel arrives at the other: the connections they have are with each other. */
export async function exchangeData(one: Side, other: Side): Promise<void> {
  await dataChannelsOpen(one, other);
  const word = `${Math.random()}`;
  const said = new Promise<void>((resolve) => {
    const stop = other.mesh.on('data', ({ data }) => {
      if (data !== word) return;
      stop();
      resolve();
    });
  });
  one.mesh.send(word);
  await said;
}

/** A connection by which both can talk, and over which both can agree on something new. */
export async function worksFully(one: Side, other: Side): Promise<void> {
  await connected(one, other);
  await Promise.all([exchangeData(one, other), exchangeData(other, one)]);
  const screens = [one, other].map(({ mesh: own }) => {
    const screen = still();
    own.share(screen);
    return screen;
  });
  await until('screens', () => one.peer.screen !== null && other.peer.screen !== null);
  for (const { mesh: own } of [one, other]) own.share(null);
  await until('no screens', () => one.peer.screen === null && other.peer.screen === null);
  for (const screen of screens) stop(screen);
}

export function close(...sides: Side[]): void {
  for (const side of sides) side.mesh.close();
}

/** A picture that does not move: nothing to encode. */
export const still = (): MediaStream => document.createElement('canvas').captureStream(0);

/** Pictures are told apart by their shape: what is narrow in bandwidth makes them smaller, and keeps that. */
export const SHAPES = { camera: [160, 120], wide: [240, 80], square: [120, 120], tall: [60, 120] } as const;
export type Shape = keyof typeof SHAPES;

/** A picture that moves. */
export function picture(shape: Shape = 'camera'): MediaStream {
  const [width, height] = SHAPES[shape];
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const context = canvas.getContext('2d');
  const stream = canvas.captureStream(10);
  let frame = 0;
  const timer = setInterval(() => {
    frame += 1;
    if (context !== null) {
      context.fillStyle = `hsl(${frame * 20} 80% 50%)`;
      context.fillRect(0, 0, width, height);
    }
    if (stream.getTracks().every(({ readyState }) => readyState === 'ended')) clearInterval(timer);
  }, 100);
  return stream;
}

export function stop(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

/** The picture that a stream shows by now. */
async function shapeOf(stream: MediaStream): Promise<Shape | undefined> {
  const video = document.createElement('video');
  video.muted = true;
  video.srcObject = stream;
  await Promise.race([video.play(), later(1_000)]);
  const { videoWidth, videoHeight } = video;
  video.srcObject = null;
  const ratio = videoWidth / videoHeight;
  const names = Object.keys(SHAPES) as Shape[]; // of a constant
  return names.find((name) => Math.abs(Math.log(ratio / (SHAPES[name][0] / SHAPES[name][1]))) < 0.1);
}

export const shows = (shape: Shape, stream: () => MediaStream | null): Promise<void> =>
  until(`a picture: ${shape}`, async () => {
    const shown = stream();
    return shown !== null && (await shapeOf(shown)) === shape;
  });
