/**
 * More people than a machine can carry browsers: one page plays several. Each sends a picture to those who watch, looks
 * at nobody, and speaks to the others by signals alone, as docs/protocol.md has it.
 */
import type { Caller, Stage } from './caller.ts';
import { pictureOf } from './portrait.ts';

export interface Extras {
  /** They have joined when it resolves. */
  come(names: readonly string[]): Promise<void>;
  /** The last to come are the first to go. */
  go(count: number): Promise<void>;
}

/** @param watchers who is in the room, and is to see them. */
export async function openExtras(stage: Stage, code: string, watchers: readonly Caller[]): Promise<Extras> {
  const { page } = await stage.person('healthz');
  const wanted = await Promise.all(watchers.map((watcher) => watcher.demo('userId')));
  await page.evaluate(`globalThis.extras = []; globalThis.play = ${PLAY}; 0`);
  let count = 0;
  return {
    come: async (names) => {
      for (const name of names) {
        // The first picture is that of the watcher who has opened the room, and so on.
        count += 1;
        const picture = pictureOf(watchers.length - 1 + count, { width: 480, framesPerSecond: 2 });
        const part = JSON.stringify({ name, code: code.replace(' ', ''), wanted });
        await page.evaluate(`play({ ...${part}, picture: ${picture} })`);
      }
    },
    go: async (number) => {
      count -= number;
      await page.evaluate(`Promise.all(extras.splice(-${number}).map((client) => client.close()))`);
    },
  };
}

const PLAY = `async ({ name, code, wanted, picture }) => {
  const { connect } = await import('/signalbox.js');
  const client = connect(location.origin, { name, store: null });
  extras.push(client);
  const metadata = { camera: true, microphone: extras.length % 3 !== 0 };
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
