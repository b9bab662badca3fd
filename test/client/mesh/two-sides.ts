/** Two members with their meshes, and test media: the start of most scenarios. */
import { type Mesh, type MeshOptions, mesh, type Peer, type PeerState } from '../../../src/client/index.ts';
import { later } from './counters.ts';
import { type FakeRoom, FakeServer, until } from './fake-server.ts';

export interface Side {
  readonly name: string;
  readonly room: FakeRoom;
  readonly mesh: Mesh;
  /** The other side. */
  readonly peer: Peer;
  /** The states that the mesh reported, without repetitions. */
  readonly states: readonly PeerState[];
}

export interface TwoSides {
  readonly server: FakeServer;
  /** The member that joined first: waits for the offer. */
  readonly early: Side;
  /** The member that makes the offer. */
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

/** Both are in the room before the meshes begin. @param first whose mesh begins first */
export function twoSides(
  server = new FakeServer(),
  options: MeshOptions = {},
  first: 'early' | 'late' = 'early',
): TwoSides {
  const rooms = { early: server.join('early'), late: server.join('late') };
  const begin = (name: 'early' | 'late'): Side => sideOf(name, rooms[name], options);
  if (first === 'early') return { server, early: begin('early'), late: begin('late') };
  const late = begin('late');
  return { server, early: begin('early'), late };
}

export const areConnected = (...sides: Side[]): boolean =>
  sides.every((side) => side.mesh.peers.size > 0 && side.peer.state === 'connected');

export const connected = (...sides: Side[]): Promise<void> => until('connected', () => areConnected(...sides));

export const dataChannelsOpen = (...sides: Side[]): Promise<void> =>
  until('greeted', () => sides.every((side) => side.mesh.peers.size > 0 && side.peer.canSend));

/** Data of one side arrives at the other: so their connections belong together. */
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

/** Both sides can send data, and both can negotiate a screen. */
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

/** A still picture: no frames to encode. */
export const still = (): MediaStream => document.createElement('canvas').captureStream(0);

/** Videos are told apart by their aspect ratio: a lack of bandwidth changes the size, not the ratio. */
export const SHAPES = { camera: [160, 120], wide: [240, 80], square: [120, 120], tall: [60, 120] } as const;
export type Shape = keyof typeof SHAPES;

/** A moving picture. */
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

/** The shape of the video that a stream shows now. */
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
