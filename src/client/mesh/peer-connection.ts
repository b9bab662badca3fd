/**
 * One RTCPeerConnection with perfect negotiation: either side may offer at any time, and on glare (both at once) the polite
 * side rolls its own offer back. Signals may be lost, repeated and delayed: offers are numbered, an answer repeats the
 * number of its offer, and an offer is sent again until it is answered. A connection belongs to one page load of either side.
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
  /** Whether we make the first offer. The offerer is the polite side. */
  readonly isOfferer: boolean;
  /** Receives the tracks of their camera and microphone. */
  readonly stream: MediaStream;
  readonly remotePage: RemotePage;
  readonly send: (signal: Signal) => void;
  readonly onStateChange: () => void;
  /** The media or the data channel has changed. */
  readonly onChange: () => void;
  readonly onData: (data: Json) => void;
}

const OFFER_RETRY = { firstMs: 4_000, maxMs: 30_000 };
const MAX_EARLY_CANDIDATES = 100;
/** STUN error code "server could not be reached": normal for network interfaces that have no route to it. */
const UNREACHABLE = 701;

export class PeerConnection {
  readonly rtc: RTCPeerConnection;
  readonly media: Media;
  channel: DataChannel | undefined;
  readonly #deps: PeerConnectionDeps;
  readonly #reportedFaults = new Set<string>();
  /** Number of our last offer. */
  #offerNumber = 0;
  /** Number of the peer's last offer that we answered. */
  #answeredNumber: number | undefined;
  #earlyCandidates: RTCIceCandidateInit[] = [];
  #queue: Promise<void> = Promise.resolve();
  #stopResend: Stop | undefined;

  constructor(deps: PeerConnectionDeps) {
    const { context, isOfferer, stream, send, onStateChange } = deps;
    const rtc = new RTCPeerConnection(context.configuration());
    this.#deps = deps;
    this.rtc = rtc;
    this.media = new Media(rtc, context.outgoing, stream);
    rtc.onicecandidate = ({ candidate }) => candidate && send({ candidate });
    rtc.onicecandidateerror = (event) => this.#reportFault(event);
    rtc.onconnectionstatechange = onStateChange;
    rtc.onnegotiationneeded = () => this.#enqueue(() => this.#offer());
    if (!isOfferer) return;
    this.media.open();
    this.#openChannel();
  }

  /** Whether a description of the peer was applied. */
  get hasRemote(): boolean {
    return this.rtc.remoteDescription !== null;
  }

  /** Signals are applied in order of arrival. */
  receive({ negotiation, answered, description, candidate }: Signal): void {
    if (description) this.#enqueue(() => this.#receiveDescription(description, negotiation, answered));
    if (candidate) this.#enqueue(() => this.#receiveCandidate(candidate));
  }

  /** Sends the present tracks. */
  updateTracks(): void {
    // The transceivers are created from the first offer, which may not have arrived yet.
    if (this.#deps.isOfferer || this.hasRemote) this.media.sendTracks();
  }

  /** Sends our unanswered offer again, if there is one. */
  resend(): void {
    this.#enqueue(() => this.#sendOffer());
  }

  close(): void {
    this.#stopResend?.();
    this.rtc.close();
  }

  /**
   * Serial queue. Errors are ignored: steps of a closed connection fail, as do invalid signals of a peer. Then the
   * connection is not established, and the connect timeout replaces it.
   */
  #enqueue(step: () => Promise<void> | void): void {
    this.#queue = this.#queue.then(step).catch(() => undefined);
  }

  async #offer(): Promise<void> {
    // During a negotiation: the browser fires the event again afterwards.
    if (this.rtc.signalingState !== 'stable') return;
    await this.rtc.setLocalDescription();
    this.#offerNumber = this.#deps.context.offerCount += 1;
    this.#sendOffer();
  }

  /** Sends our unanswered offer, if there is one, and repeats it until it is answered. */
  #sendOffer(times = 0): void {
    this.#stopResend?.();
    if (this.rtc.signalingState !== 'have-local-offer') return;
    this.#sendDescription(this.rtc.localDescription, this.#offerNumber);
    const { clock } = this.#deps.context;
    this.#stopResend = clock.after(backoffMs(times, OFFER_RETRY), () => this.#sendOffer(times + 1));
  }

  #sendDescription(description: RTCSessionDescription | null, negotiation: number | undefined): void {
    this.#deps.send({
      negotiation,
      answered: this.#answeredNumber,
      again: this.hasRemote,
      // Cast: a local description is an offer or an answer.
      description: description as Description,
    });
  }

  async #receiveDescription(description: Description, negotiation?: number, answered?: number): Promise<void> {
    const { rtc } = this;
    const isOffer = description.type === 'offer';
    // The answer to an offer that was rolled back may still arrive: ignored.
    if (isOffer ? !this.#accepts(negotiation, answered) : !this.#isUnansweredOffer(negotiation ?? this.#offerNumber))
      return;
    await rtc.setRemoteDescription(description);
    for (const candidate of this.#earlyCandidates.splice(0))
      await rtc.addIceCandidate(candidate).catch(() => undefined);
    if (isOffer) {
      if (!this.channel && description.sdp.includes('m=application')) this.#openChannel();
      this.media.sendTracks();
      await rtc.setLocalDescription();
      this.#answeredNumber = negotiation;
      this.#sendDescription(rtc.localDescription, negotiation);
    }
    this.media.receiveTracks();
    this.#deps.onChange();
  }

  /** Whether this is the number of our unanswered offer. */
  #isUnansweredOffer(negotiation?: number): boolean {
    return this.rtc.signalingState === 'have-local-offer' && negotiation === this.#offerNumber;
  }

  /** Whether an offer of the peer is to be answered. */
  #accepts(negotiation = Infinity, answered?: number): boolean {
    const { isOfferer, remotePage } = this.#deps;
    // The offer was sent again: our answer was lost.
    if (negotiation === this.#answeredNumber) this.#repeatAnswer();
    if (negotiation <= remotePage.lastOffer) return false;
    // The peer answered our offer before it made this one: no glare, its answer is lost or late. Both sides send again.
    if (this.#isUnansweredOffer(answered)) {
      this.#sendOffer();
      return false;
    }
    if (negotiation < Infinity) remotePage.lastOffer = negotiation;
    return isOfferer || this.rtc.signalingState === 'stable';
  }

  #repeatAnswer(): void {
    const { currentLocalDescription: answer } = this.rtc;
    // An offer of ours was answered since then: our answer has arrived.
    if (answer?.type !== 'answer') return;
    this.#sendDescription(answer, this.#answeredNumber);
    // Without that answer, the peer has ignored our unanswered offer.
    this.#sendOffer();
  }

  /** A candidate may overtake its description. Candidates of ignored offers stay buffered, unused. */
  async #receiveCandidate(candidate: RTCIceCandidateInit): Promise<void> {
    try {
      await this.rtc.addIceCandidate(candidate);
    } catch {
      if (this.#earlyCandidates.length < MAX_EARLY_CANDIDATES) this.#earlyCandidates.push(candidate);
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
