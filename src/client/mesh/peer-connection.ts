/**
 * One RTCPeerConnection, by perfect negotiation: either side may offer at any time, and when both do at once the polite
 * one takes its own offer back. The network between may lose, repeat and delay: so offers are numbered, an answer
 * repeats the number of its offer, and an offer is sent again until it is answered. A pair is never put together again:
 * when the other page is a new one, a new pair takes its place.
 */
import type { Json } from '../../protocol/index.ts';
import { type DataChannel, openDataChannel } from './data-channel.ts';
import { Media } from './media.ts';
import type { MeshContext } from './mesh-context.ts';
import type { Description, Signal } from './signals.ts';

export interface PeerConnectionDeps {
  readonly shared: MeshContext;
  /** Whether we make the first offer; then we are the polite one. */
  readonly offers: boolean;
  /** Takes what comes in of camera and microphone. */
  readonly stream: MediaStream;
  /** The number of the last offer that the other page has made: it outlives this pair. */
  readonly theirs: { heard: number };
  readonly send: (signal: Signal) => void;
  /** The connection has another state. */
  readonly moved: () => void;
  readonly changed: () => void;
  readonly heard: (data: Json) => void;
}

const RESEND_MS = 4_000;
const MAX_RESEND_MS = 30_000;
const MAX_EARLY = 100;
/** "The server could not be reached": what every path but the best one looks like. */
const UNREACHABLE = 701;

export class PeerConnection {
  readonly connection: RTCPeerConnection;
  readonly media: Media;
  line: DataChannel | undefined;
  readonly #setup: PeerConnectionDeps;
  readonly #faults = new Set<string>();
  /** Numbers of the last offer that we made, and of the last that we answered. */
  #offered = 0;
  #answered: number | undefined;
  #early: RTCIceCandidateInit[] = [];
  #work: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(setup: PeerConnectionDeps) {
    const { shared, offers, stream, send, moved } = setup;
    const connection = new RTCPeerConnection(shared.configuration());
    this.#setup = setup;
    this.connection = connection;
    this.media = new Media(connection, shared.outgoing, stream);
    connection.onicecandidate = ({ candidate }) => candidate && send({ candidate });
    connection.onicecandidateerror = (event) => this.#complain(event);
    connection.onconnectionstatechange = moved;
    connection.onnegotiationneeded = () => this.#next(() => this.#offer());
    if (!offers) return;
    this.media.open();
    this.#openLine();
  }

  /** Whether the other page has had its say. */
  get isMet(): boolean {
    return this.connection.remoteDescription !== null;
  }

  /** What was said first takes effect first. */
  take({ negotiation, answered, description, candidate }: Signal): void {
    if (description) this.#next(() => this.#describe(description, negotiation, answered));
    if (candidate) this.#next(() => this.#reach(candidate));
  }

  /** What is to be sent has changed. */
  fill(): void {
    // Places are opened by the first offer, and that may not have come yet.
    if (this.#setup.offers || this.isMet) this.media.fill();
  }

  /** Sends an offer that was not answered once more. */
  resend(): void {
    this.#next(() => this.#ask(RESEND_MS));
  }

  close(): void {
    clearTimeout(this.#timer);
    this.connection.close();
  }

  /**
   * One step after the other. A closed connection rejects whatever was under way, and a peer may send nonsense: both
   * show in the one way that counts, a connection that does not come about, and that is begun anew.
   */
  #next(step: () => Promise<void> | void): void {
    this.#work = this.#work.then(step).catch(() => undefined);
  }

  async #offer(): Promise<void> {
    // Otherwise the browser asks again once the present negotiation is over.
    if (this.connection.signalingState !== 'stable') return;
    await this.connection.setLocalDescription();
    this.#offered = this.#setup.shared.offers += 1;
    this.#ask(RESEND_MS);
  }

  #ask(waitMs: number): void {
    clearTimeout(this.#timer);
    if (this.connection.signalingState !== 'have-local-offer') return;
    this.#tell(this.connection.localDescription, this.#offered);
    this.#timer = setTimeout(() => this.#ask(Math.min(waitMs * 2, MAX_RESEND_MS)), waitMs);
  }

  #tell(description: RTCSessionDescription | null, negotiation: number | undefined): void {
    // The browser's own; what we read has these two types only.
    this.#setup.send({
      negotiation,
      answered: this.#answered,
      again: this.isMet,
      description: description as Description,
    });
  }

  async #describe(description: Description, negotiation?: number, answered?: number): Promise<void> {
    const connection = this.connection;
    const isOffer = description.type === 'offer';
    // After a rollback, the answer to the offer that was taken back may still arrive.
    if (isOffer ? !this.#isAccepted(negotiation, answered) : !this.#isOpen(negotiation ?? this.#offered)) return;
    await connection.setRemoteDescription(description);
    for (const candidate of this.#early.splice(0)) await connection.addIceCandidate(candidate).catch(() => undefined);
    if (isOffer) {
      if (!this.line && description.sdp.includes('m=application')) this.#openLine();
      this.media.fill();
      await connection.setLocalDescription();
      this.#answered = negotiation;
      this.#tell(connection.localDescription, negotiation);
    }
    this.media.look();
    this.#setup.changed();
  }

  /** Whether it is the number of an offer of ours that has no answer yet. */
  #isOpen(negotiation?: number): boolean {
    return this.connection.signalingState === 'have-local-offer' && negotiation === this.#offered;
  }

  #isAccepted(negotiation = Infinity, answered?: number): boolean {
    const { offers, theirs } = this.#setup;
    // It was repeated because our answer was lost.
    if (negotiation === this.#answered) this.#repeat();
    if (negotiation <= theirs.heard) return false;
    // Made after ours was answered: it has not met ours, only that answer is lost or late. Both come once more.
    if (this.#isOpen(answered)) {
      this.#ask(RESEND_MS);
      return false;
    }
    if (negotiation < Infinity) theirs.heard = negotiation;
    return offers || this.connection.signalingState === 'stable';
  }

  #repeat(): void {
    const { currentLocalDescription: answer } = this.connection;
    // Since then an offer of ours was answered: whoever did that has had our answer.
    if (answer?.type !== 'answer') return;
    this.#tell(answer, this.#answered);
    // What was offered since was of no use without that answer.
    this.#ask(RESEND_MS);
  }

  /** What is of no use yet may belong to the next description; what belongs to an offer that was ignored never is. */
  async #reach(candidate: RTCIceCandidateInit): Promise<void> {
    try {
      await this.connection.addIceCandidate(candidate);
    } catch {
      if (this.#early.length < MAX_EARLY) this.#early.push(candidate);
    }
  }

  #openLine(): void {
    this.line = openDataChannel(this.connection, this.#setup.changed, this.#setup.heard);
  }

  #complain({ url, errorCode: code, errorText: text }: RTCPeerConnectionIceErrorEvent): void {
    const { configuration, events } = this.#setup.shared;
    const key = `${code} ${url}`;
    if ((code === UNREACHABLE && configuration().iceTransportPolicy !== 'relay') || this.#faults.has(key)) return;
    this.#faults.add(key);
    events.emit('fault', { url: url ?? '', code, text });
  }
}
