/**
 * One peer connection, by perfect negotiation: either side may offer at any time, and when both do at once the polite
 * one gives way. A pair is never repaired: when the other page is a new one, a new pair takes its place.
 */
import type { Signal } from './signals.ts';

/** A null is a track that may come later: its place in the connection is kept, so no new negotiation is needed. */
export interface Tracks {
  readonly audio: MediaStreamTrack | null;
  readonly video: MediaStreamTrack | null;
}

export interface PairSetup {
  readonly polite: boolean;
  readonly iceServers: RTCIceServer[];
  readonly tracks: Tracks;
  readonly send: (signal: Signal) => void;
  /** The other one's stream has another track. */
  readonly streamChanged: (stream: MediaStream) => void;
  readonly stateChanged: (state: RTCPeerConnectionState) => void;
}

const KINDS = ['audio', 'video'] as const;

export class Pair {
  readonly #connection: RTCPeerConnection;
  readonly #polite: boolean;
  readonly #send: (signal: Signal) => void;
  #tracks: Tracks;
  #offering = false;
  /** The last offer was ignored, and so are the candidates that belong to it. */
  #ignoring = false;
  #early: RTCIceCandidateInit[] = [];
  #work: Promise<void> = Promise.resolve();

  constructor({ polite, iceServers, tracks, send, streamChanged, stateChanged }: PairSetup) {
    const connection = new RTCPeerConnection({ iceServers });
    this.#connection = connection;
    this.#polite = polite;
    this.#tracks = tracks;
    this.#send = send;
    const stream = new MediaStream();
    connection.ontrack = ({ track }) => {
      stream.addTrack(track);
      streamChanged(stream);
    };
    connection.onicecandidate = ({ candidate }) => candidate !== null && send({ candidate });
    connection.onconnectionstatechange = () => stateChanged(connection.connectionState);
    connection.onnegotiationneeded = () => void this.#negotiate();
  }

  get state(): RTCPeerConnectionState {
    return this.#connection.connectionState;
  }

  /** Makes the first offer: opening the places for our tracks starts the negotiation. */
  offer(): void {
    for (const kind of KINDS) this.#connection.addTransceiver(kind, { direction: 'sendrecv' });
    this.#fillPlaces();
  }

  /** One after the other: a candidate must not overtake the description it belongs to. */
  take({ description, candidate }: Signal): void {
    this.#work = this.#work.then(async () => {
      if (description !== undefined) await survive(() => this.#describe(description));
      if (candidate !== undefined) await survive(() => this.#addCandidate(candidate));
    });
  }

  setTracks(tracks: Tracks): void {
    this.#tracks = tracks;
    this.#fillPlaces();
  }

  restartIce(): void {
    this.#connection.restartIce();
  }

  stats(): Promise<RTCStatsReport> {
    return this.#connection.getStats();
  }

  close(): void {
    this.#connection.onicecandidate = null;
    this.#connection.onconnectionstatechange = null;
    this.#connection.onnegotiationneeded = null;
    this.#connection.close();
  }

  async #negotiate(): Promise<void> {
    this.#offering = true;
    await survive(() => this.#describeOurselves());
    this.#offering = false;
  }

  async #describe(description: RTCSessionDescriptionInit): Promise<void> {
    const collision = description.type === 'offer' && (this.#offering || this.#connection.signalingState !== 'stable');
    this.#ignoring = collision && !this.#polite;
    if (this.#ignoring) return;
    await this.#connection.setRemoteDescription(description);
    for (const candidate of this.#early.splice(0)) await survive(() => this.#addCandidate(candidate));
    if (description.type !== 'offer') return;
    this.#fillPlaces();
    await this.#describeOurselves();
  }

  async #addCandidate(candidate: RTCIceCandidateInit): Promise<void> {
    if (this.#ignoring) return;
    if (this.#connection.remoteDescription === null) this.#early.push(candidate);
    else await this.#connection.addIceCandidate(candidate);
  }

  async #describeOurselves(): Promise<void> {
    await this.#connection.setLocalDescription();
    const description = this.#connection.localDescription;
    if (description !== null) this.#send({ description });
  }

  /** Puts our tracks into the first place of their kind, whoever has opened it. */
  #fillPlaces(): void {
    for (const kind of KINDS) {
      const place = this.#connection
        .getTransceivers()
        .find(({ receiver, direction }) => direction !== 'stopped' && receiver.track.kind === kind);
      if (place === undefined) continue;
      if (place.direction !== 'sendrecv') place.direction = 'sendrecv';
      void survive(() => place.sender.replaceTrack(this.#tracks[kind]));
    }
  }
}

/**
 * A closed connection rejects whatever was under way, and a peer may send nonsense. Both show in the one way that
 * counts, a connection that does not come about, and the mesh tries again then.
 */
async function survive(step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch {
    // See above.
  }
}
