/**
 * A WebRTC peer without a browser, from docs/protocol.md alone: plain socket.io-client and @roamhq/wrtc. Joins a room,
 * sends a moving picture, counts the pictures that come in, and prints what happens.
 *
 *   node test/support/node-peer.mjs <url> <code>
 */
import wrtc from '@roamhq/wrtc';
import { io } from 'socket.io-client';

const FRAME_MS = 100;
const WIDTH = 160;
const HEIGHT = 120;

const { RTCPeerConnection, MediaStream, nonstandard } = wrtc;
const [url, code] = process.argv.slice(2);
if (url === undefined || code === undefined) throw new Error('usage: robot.mjs <url> <code>');

const say = (line) => process.stdout.write(`${line}\n`);
const socket = io(url, { transports: ['websocket'], auth: { v: 1, name: 'Robot' } });
const source = new nonstandard.RTCVideoSource();
const track = source.createTrack();
setInterval(() => source.onFrame({ width: WIDTH, height: HEIGHT, data: picture() }), FRAME_MS);

socket.on('welcome', async ({ userId }) => {
  const { room } = await ask('room:join', { code });
  say(`joined ${userId}`);
  // The latest to join has the greatest seq of all, so it offers to everyone.
  for (const member of room.members) if (member.userId !== userId) call(member.userId);
});
socket.on('connect_error', (error) => say(`refused ${error.message}`));

async function ask(name, payload) {
  const answer = await socket.timeout(10_000).emitWithAck(name, payload);
  if (!answer.ok) throw new Error(`${name}: ${answer.error?.code}`);
  return answer;
}

function call(peer) {
  const connection = crypto.randomUUID();
  const pc = new RTCPeerConnection();
  const send = (signal) => void ask('signal', { to: peer, data: { connection, ...signal } });
  const describe = () => {
    const { type, sdp } = pc.localDescription ?? {};
    if (type !== undefined && sdp !== undefined) send({ description: { type, sdp } });
  };
  pc.addTrack(track, new MediaStream([track]));
  pc.onicecandidate = ({ candidate }) => candidate && send({ candidate: candidate.toJSON() });
  pc.onconnectionstatechange = () => say(`connection ${pc.connectionState}`);
  pc.ontrack = ({ track: incoming }) => {
    if (incoming.kind === 'video') count(incoming);
  };
  pc.onnegotiationneeded = async () => {
    await pc.setLocalDescription(await pc.createOffer());
    describe();
  };
  socket.on('signal', ({ from, data }) => {
    if (from === peer && data.connection === connection) inOrder(() => hear(pc, data, describe));
  });
}

/** Descriptions and candidates take effect in the order in which they came. */
let last = Promise.resolve();
function inOrder(work) {
  last = last.then(work).catch((error) => say(`failed ${String(error)}`));
}

/** The polite side: an offer that crosses its own wins. */
async function hear(pc, { description, candidate }, describe) {
  if (candidate !== undefined) return pc.addIceCandidate(candidate);
  if (description === undefined) return;
  if (description.type === 'offer' && pc.signalingState !== 'stable')
    await pc.setLocalDescription({ type: 'rollback' });
  await pc.setRemoteDescription(description);
  if (description.type !== 'offer') return;
  await pc.setLocalDescription(await pc.createAnswer());
  describe();
}

function count(incoming) {
  let frames = 0;
  const sink = new nonstandard.RTCVideoSink(incoming);
  sink.onframe = () => {
    frames += 1;
    if (frames % 10 === 0) say(`frames ${frames}`);
  };
}

/** I420: a plane of brightness that changes, two of colour that do not. */
function picture() {
  const data = new Uint8ClampedArray(WIDTH * HEIGHT * 1.5).fill(128);
  return data.fill((Date.now() / 10) % 256, 0, WIDTH * HEIGHT);
}
