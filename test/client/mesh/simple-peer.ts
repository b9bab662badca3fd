/** The peer of `docs/protocol.md`: it names connections, and sends no page, no numbers and no `hello`. */
import type { Json } from '../../../src/protocol/index.ts';
import type { FakeRoom } from './fake-server.ts';

interface Said {
  readonly connection?: string;
  readonly description?: RTCSessionDescriptionInit;
  readonly candidate?: RTCIceCandidateInit;
}

export class SimplePeer {
  connection = '';
  isConnected = false;
  tracks: MediaStreamTrack[] = [];
  readonly #room: FakeRoom;
  readonly #stop: () => void;
  #pc: RTCPeerConnection | undefined;
  #early: RTCIceCandidateInit[] = [];
  #work: Promise<unknown> = Promise.resolve();

  /** @param offerTo the member that it makes an offer to, if it is the side that offers */
  constructor(room: FakeRoom, offerTo?: string) {
    this.#room = room;
    this.#stop = room.on('signal', ({ from, data }) => this.#hear(from, data as Said));
    if (offerTo !== undefined) void this.#offer(offerTo);
  }

  close(): void {
    this.#stop();
    this.#pc?.close();
  }

  async #offer(to: string): Promise<void> {
    const pc = this.#open(to, `simple ${Math.random()}`);
    pc.createDataChannel('greetings');
    await pc.setLocalDescription(await pc.createOffer());
    this.#describe(to, pc);
  }

  #open(to: string, connection: string): RTCPeerConnection {
    this.#pc?.close();
    const pc = new RTCPeerConnection();
    this.#pc = pc;
    this.connection = connection;
    this.#early = [];
    this.isConnected = false;
    pc.ontrack = ({ track }) => this.tracks.push(track);
    pc.onconnectionstatechange = () => {
      this.isConnected = pc.connectionState === 'connected';
    };
    pc.onicecandidate = ({ candidate }) => candidate && this.#say(to, { candidate: candidate.toJSON() });
    return pc;
  }

  #hear(from: string, said: Said): void {
    if (said.connection !== this.connection) {
      if (said.description?.type !== 'offer') return;
      this.#open(from, said.connection ?? '');
    }
    const pc = this.#pc;
    if (pc !== undefined) this.#work = this.#work.then(() => this.#take(from, pc, said)).catch(() => undefined);
  }

  async #take(from: string, pc: RTCPeerConnection, { description, candidate }: Said): Promise<void> {
    if (candidate !== undefined) {
      if (pc.remoteDescription === null) this.#early.push(candidate);
      else await pc.addIceCandidate(candidate);
    }
    if (description === undefined) return;
    await pc.setRemoteDescription(description);
    for (const waiting of this.#early.splice(0)) await pc.addIceCandidate(waiting);
    if (description.type !== 'offer') return;
    await pc.setLocalDescription(await pc.createAnswer());
    this.#describe(from, pc);
  }

  #describe(to: string, pc: RTCPeerConnection): void {
    const { type, sdp } = pc.localDescription ?? {};
    this.#say(to, { description: { type, sdp } as RTCSessionDescriptionInit });
  }

  #say(to: string, said: Said): void {
    this.#room.signal(to, { connection: this.connection, ...said } as unknown as Json).catch(() => undefined);
  }
}
