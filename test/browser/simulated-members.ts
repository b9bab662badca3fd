/**
 * Members without a page of their own, for rooms with more people than a machine can run browsers: one page joins for
 * all of them. Each sends a picture to the watchers, receives none, and uses signals alone, as docs/protocol.md has it.
 */

import { drawnStream } from './drawn-camera.ts';
import type { Caller, Harness } from './harness.ts';

export interface SimulatedMembers {
  /** They have joined when it resolves. */
  join(names: readonly string[]): Promise<void>;
  /** The last to come are the first to go. */
  leave(count: number): Promise<void>;
}

/** @param watchers the callers in the room, to whom the pictures are sent */
export async function openSimulatedMembers(
  harness: Harness,
  code: string,
  watchers: readonly Caller[],
): Promise<SimulatedMembers> {
  const { page } = await harness.person('healthz');
  const wanted = await Promise.all(watchers.map((watcher) => watcher.demo('userId')));
  await page.evaluate(`globalThis.members = []; globalThis.join = ${JOIN}; 0`);
  let count = 0;
  return {
    join: async (names) => {
      for (const name of names) {
        // The first picture is that of the watcher who has opened the room, and so on.
        count += 1;
        const picture = drawnStream(watchers.length - 1 + count, { width: 480, framesPerSecond: 2 });
        const member = JSON.stringify({ name, code: code.replace(' ', ''), wanted });
        await page.evaluate(`join({ ...${member}, picture: ${picture} })`);
      }
    },
    leave: async (number) => {
      count -= number;
      await page.evaluate(`Promise.all(members.splice(-${number}).map((client) => client.close()))`);
    },
  };
}

const JOIN = `async ({ name, code, wanted, picture }) => {
  const { connect } = await import('/signalbox.js');
  const client = connect(location.origin, { name, store: null });
  members.push(client);
  const metadata = { camera: true, microphone: members.length % 3 !== 0 };
  const room = await client.join(code, { profile: { metadata } });
  const [track] = picture.getVideoTracks();
  for (const to of wanted) {
    const connection = crypto.randomUUID();
    const pc = new RTCPeerConnection();
    const send = (signal) => room.signal(to, JSON.parse(JSON.stringify({ connection, ...signal }))).catch(() => {});
    pc.onicecandidate = ({ candidate }) => candidate && send({ candidate });
    pc.onnegotiationneeded = async () => {
      await pc.setLocalDescription();
      send({ description: pc.localDescription });
    };
    let work = Promise.resolve();
    room.on('signal', ({ from, data }) => {
      if (from !== to || data.connection !== connection) return;
      work = work.then(async () => {
        if (data.candidate) await pc.addIceCandidate(data.candidate);
        if (!data.description) return;
        await pc.setRemoteDescription(data.description);
        if (data.description.type !== 'offer') return;
        await pc.setLocalDescription();
        send({ description: pc.localDescription });
      }).catch(() => {});
    });
    room.on('ended', () => pc.close());
    pc.addTransceiver('audio', { direction: 'sendrecv' });
    pc.addTransceiver(track, { direction: 'sendonly' });
  }
}`;
