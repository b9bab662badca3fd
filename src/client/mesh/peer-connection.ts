/**
 * One RTCPeerConnection, by perfect negotiation: either side may offer at any time, and when both do at once the polite one
 * rolls its own offer back. Signals may be lost, repeated and delayed: so offers are numbered, an answer repeats the number
 * of its offer, and an offer is sent again until it is answered. It belongs to one page load on either side: with another
 * page, another connection begins.
 */
import type { Json } from '../../protocol/index.ts';
import { backoffMs } from '../../support/backoff.ts';
import type { Stop } from '../../support/clock.ts';
import { type DataChannel, openDataChannel } from './data-channel.ts';
import { Media } from './media.ts';
import type { MeshContext } from './mesh-context.ts';
import type { RemotePage } from './remote-page.ts';
import type { Description, Signal } from './signals.ts';

export interface PeerConnectionDeps {
  readonly context: MeshContext;
  /** Whether we make the first offer; then we are the polite one. */
  readonly offers: boolean;
  /** Receives the tracks of their camera and microphone. */
  readonly stream: MediaStream;
  readonly remotePage: RemotePage;
  readonly send: (signal: Signal) => void;
  readonly onStateChange: () => void;
  /** The media or the data channel have changed. */
  readonly onChange: () => void;
  readonly onData: (data: Json) => void;
}

const RESEND = { firstMs: 4_000, maxMs: 30_000 };
const MAX_EARLY = 100;
/** STUN error code "server could not be reached": usual on every network path but the best one. */
const UNREACHABLE = 701;

export class PeerConnection {
  readonly rtc: RTCPeerConnection;
  readonly media: Media;
  channel: DataChannel | undefined;
  readonly #deps: PeerConnectionDeps;
  readonly #reportedFaults = new Set<string>();
  /** Numbers of our last offer, and of their last offer that we answered. */
  #offered = 0;
  #answered: number | undefined;
  #earlyCandidates: RTCIceCandidateInit[] = [];
  #queue: Promise<void> = Promise.resolve();
  #stopResend: Stop | undefined;

  constructor(deps: PeerConnectionDeps) {
    const { context, offers, stream, send, onStateChange } = deps;
    const rtc = new RTCPeerConnection(context.configuration());
    this.#deps = deps;
    this.rtc = rtc;
    this.media = new Media(rtc, context.outgoing, stream);
    rtc.onicecandidate = ({ candidate }) => candidate && send({ candidate });
    rtc.onicecandidateerror = (event) => this.#reportFault(event);
    rtc.onconnectionstatechange = onStateChange;
    rtc.onnegotiationneeded = () => this.#enqueue(() => this.#offer());
    if (!offers) return;
    this.media.open();
    this.#openChannel();
  }

  /** Whether the other page has described its side. */
  get hasRemote(): boolean {
    return this.rtc.remoteDescription !== null;
  }

  /** Signals take effect in the order in which they came. */
  take({ negotiation, answered, description, candidate }: Signal): void {
    if (description) this.#enqueue(() => this.#takeDescription(description, negotiation, answered));
    if (candidate) this.#enqueue(() => this.#takeCandidate(candidate));
  }

  /** Sends the present tracks. */
  updateTracks(): void {
    // The transceivers come with the first offer, which may still be on its way.
    if (this.#deps.offers || this.hasRemote) this.media.send();
  }

  /** Sends an offer that was not answered once more. */
  resend(): void {
    this.#enqueue(() => this.#sendOffer());
  }

  close(): void {
    this.#stopResend?.();
    this.rtc.close();
  }

  /**
   * Runs one step after the other. Errors are ignored: a closed connection rejects its steps, and so does nonsense from a
   * peer. In both cases the connection does not come about, and a new one is made after a while.
   */
  #enqueue(step: () => Promise<void> | void): void {
    this.#queue = this.#queue.then(step).catch(() => undefined);
  }

  async #offer(): Promise<void> {
    // During a negotiation: the browser fires the event again after it.
    if (this.rtc.signalingState !== 'stable') return;
    await this.rtc.setLocalDescription();
    this.#offered = this.#deps.context.offers += 1;
    this.#sendOffer();
  }

  /** Sends our open offer, if there is one, and again until it is answered. */
  #sendOffer(times = 0): void {
    this.#stopResend?.();
    if (this.rtc.signalingState !== 'have-local-offer') return;
    this.#sendDescription(this.rtc.localDescription, this.#offered);
    const { clock } = this.#deps.context;
    this.#stopResend = clock.after(backoffMs(times, RESEND), () => this.#sendOffer(times + 1));
  }

  #sendDescription(description: RTCSessionDescription | null, negotiation: number | undefined): void {
    this.#deps.send({
      negotiation,
      answered: this.#answered,
      again: this.hasRemote,
      // The browser's own is an offer or an answer.
      description: description as Description,
    });
  }

  async #takeDescription(description: Description, negotiation?: number, answered?: number): Promise<void> {
    const { rtc } = this;
    const isOffer = description.type === 'offer';
    // After a rollback, the answer to the offer that was rolled back may still arrive.
    if (isOffer ? !this.#accepts(negotiation, answered) : !this.#isOpen(negotiation ?? this.#offered)) return;
    await rtc.setRemoteDescription(description);
    for (const candidate of this.#earlyCandidates.splice(0))
      await rtc.addIceCandidate(candidate).catch(() => undefined);
    if (isOffer) {
      if (!this.channel && description.sdp.includes('m=application')) this.#openChannel();
      this.media.send();
      await rtc.setLocalDescription();
      this.#answered = negotiation;
      this.#sendDescription(rtc.localDescription, negotiation);
    }
    this.media.receive();
    this.#deps.onChange();
  }

  /** Whether this is the number of an offer of ours that has no answer yet. */
  #isOpen(negotiation?: number): boolean {
    return this.rtc.signalingState === 'have-local-offer' && negotiation === this.#offered;
  }

  /** Whether an offer of theirs is to be answered. */
  #accepts(negotiation = Infinity, answered?: number): boolean {
    const { offers, remotePage } = this.#deps;
    // Sent again: our answer was lost.
    if (negotiation === this.#answered) this.#repeatAnswer();
    if (negotiation <= remotePage.lastOffer) return false;
    // They had answered our open offer before they made this one: no glare, their answer is lost or late. Both sides
    // send again.
    if (this.#isOpen(answered)) {
      this.#sendOffer();
      return false;
    }
    if (negotiation < Infinity) remotePage.lastOffer = negotiation;
    return offers || this.rtc.signalingState === 'stable';
  }

  #repeatAnswer(): void {
    const { currentLocalDescription: answer } = this.rtc;
    // An offer of ours was answered since then: so our answer has arrived.
    if (answer?.type !== 'answer') return;
    this.#sendDescription(answer, this.#answered);
    // Without that answer, the other side has ignored our open offer.
    this.#sendOffer();
  }

  /** A candidate may overtake the description that it belongs to. Those of an ignored offer are kept in vain. */
  async #takeCandidate(candidate: RTCIceCandidateInit): Promise<void> {
    try {
      await this.rtc.addIceCandidate(candidate);
    } catch {
      if (this.#earlyCandidates.length < MAX_EARLY) this.#earlyCandidates.push(candidate);
    }
  }

  #openChannel(): void {
    this.channel = openDataChannel(this.rtc, this.#deps.onChange, this.#deps.onData);
  }

  #reportFault({ url, errorCode: code, errorText: text }: RTCPeerConnectionIceErrorEvent): void {
    const { configuration, events } = this.#deps.context;
    const key = `${code} ${url}`;
    const isUsual = code === UNREACHABLE && configuration().iceTransportPolicy !== 'relay';
    if (isUsual || this.#reportedFaults.has(key)) return;
    this.#reportedFaults.add(key);
    events.emit('fault', { url: url ?? '', code, text });
  }
}
