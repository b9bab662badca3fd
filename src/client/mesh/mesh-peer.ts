/**
 * One other member, and the connection with it. Of two members, the one with the greater `seq` is the offerer: it makes the
 * first offer of every connection. Recovery:
 *
 *   one of the pages was refreshed    signals of the new page have another `page`: the connection is replaced. A page that
 *                                     waits for an offer sends `hello`, which shows its `page` to the other side
 *   only the server was out of reach  both pages are the same: the connection is kept, and ICE is restarted
 *   the connection is not established it is replaced by a new one, with back-off
 *
 * Signals of a peer without `page` may come from a new process each time: its connection is recreated when in doubt.
 */

import type { Json, Member, UserId } from '../../protocol/index.ts';
import { backoffMs } from '../../support/backoff.ts';
import type { Stop } from '../../support/clock.ts';
import { uniqueId } from '../unique-id.ts';
import type { Peer, PeerState } from './mesh.ts';
import type { MeshContext } from './mesh-context.ts';
import { PeerConnection } from './peer-connection.ts';
import { RemotePage } from './remote-page.ts';
import { SignalSender } from './signal-sender.ts';
import type { Signal } from './signals.ts';
import { type PeerStats, Sampler } from './stats.ts';

/** Hello retry interval. */
const HELLO_RETRY = { firstMs: 4_000, maxMs: 30_000 };
/** Connect timeout with back-off. */
const CONNECT_TIMEOUT = { firstMs: 10_000, maxMs: 60_000 };
/** Delay of an ICE restart by the answerer: the offerer restarts at once, and both would collide. */
const RESTART_DELAY_MS = 5_000;

export class MeshPeer implements Peer {
  /** One stream for all connections: a player continues after a refresh of the other page. */
  readonly stream = new MediaStream();
  readonly #context: MeshContext;
  readonly #sender: SignalSender;
  readonly #sampler: Sampler;
  readonly #remotePage: RemotePage;
  #member: Member;
  #connection: PeerConnection | undefined;
  /** Connection id in the signals, chosen by the offerer. */
  #connectionId = '';
  /** Failed attempts in a row. */
  #failures = 0;
  #stopTimer: Stop | undefined;
  #isClosed = false;

  constructor(context: MeshContext, member: Member) {
    const { clock } = context;
    this.#context = context;
    this.#member = member;
    this.#sampler = new Sampler(clock);
    this.#remotePage = new RemotePage(clock);
    // Signals of an earlier connection are obsolete.
    this.#sender = new SignalSender(
      context.room,
      member.userId,
      ({ connection = this.#connectionId }) =>
        !this.#isClosed && this.#member.state === 'present' && connection === this.#connectionId,
      clock,
    );
  }

  get userId(): UserId {
    return this.#member.userId;
  }

  get member(): Member {
    return this.#member;
  }

  get state(): PeerState {
    if (this.#isConnected) return 'connected';
    return this.#failures > 0 ? 'failed' : 'connecting';
  }

  get screen(): MediaStream | null {
    return this.#connection?.media.screen ?? null;
  }

  get canSend(): boolean {
    return this.#connection?.channel?.isOpen() ?? false;
  }

  get connection(): PeerConnection | undefined {
    return this.#connection;
  }

  get #isConnected(): boolean {
    return this.#connection?.rtc.connectionState === 'connected';
  }

  get #isOfferer(): boolean {
    return this.#context.room.self.seq > this.#member.seq;
  }

  send(data: Json): boolean {
    return this.#connection?.channel?.send(data) ?? false;
  }

  async stats(): Promise<PeerStats> {
    return this.#sampler.read((await this.#connection?.rtc.getStats()) ?? null);
  }

  /** @param helloMs delay before an offer is requested: a member that has just joined makes one without a request. */
  begin(helloMs = HELLO_RETRY.firstMs): void {
    if (this.#isOfferer) this.#offer();
    else this.#setTimer(helloMs, () => this.#hello());
  }

  update(member: Member): void {
    const before = this.#member;
    this.#member = member;
    if (before.state === 'away') this.refresh();
    if (before !== member) this.#changed();
  }

  /** One side has reconnected to the server: signals sent meanwhile are lost, and its network may have changed. */
  refresh(): void {
    if (this.#member.state === 'away') return;
    const connection = this.#connection;
    if (connection && this.#remotePage.isKnown && (this.#isConnected || !this.#isOfferer)) {
      connection.resend();
      if (this.#isOfferer) connection.rtc.restartIce();
    } else this.reset(0);
  }

  /** Replaces the connection. */
  reset(helloMs?: number): void {
    this.#drop();
    this.begin(helloMs);
    this.#changed();
  }

  receive(signal: Signal): void {
    const { page, hello, description, again, connection } = signal;
    // Only these signals introduce a page. Any other signal of an unknown page is late, or has overtaken the first one.
    const isFirst =
      hello || (description?.type === 'offer' ? !again : description && connection === this.#connectionId);
    const from = isFirst ? this.#remotePage.compare(page) : 'same';
    if (from === 'former' || (from === 'new' && !this.#changePage(page))) return;
    if (!hello) this.#deliver(signal);
    else if (!this.#isOfferer) return;
    else if (this.#connection && !this.#connection.hasRemote) this.#connection.resend();
    else if (!this.#isConnected) this.#offer();
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
    this.#sender.close();
  }

  /** @returns whether the signal that introduced the page is to be delivered. */
  #changePage(page: string | undefined): boolean {
    this.#remotePage.change(page);
    // The connection has no answer yet, so it can be answered by this page.
    if (!this.#connection?.hasRemote) return true;
    this.#failures = 0;
    this.reset();
    return !this.#isOfferer;
  }

  #deliver(signal: Signal): void {
    const { connection = this.#connectionId, negotiation = Infinity, description, again } = signal;
    if (this.#connection && connection === this.#connectionId) this.#connection.receive(signal);
    // Only the offerer chooses connection ids: another id is that of an earlier connection.
    else if (this.#isOfferer || description?.type !== 'offer') return;
    else if (again) this.#hello();
    // A smaller number than that of the last offer: a newer offer has overtaken this one.
    else if (negotiation > this.#remotePage.lastOffer) this.#open(connection)?.receive(signal);
  }

  #offer(): void {
    // The server delivers no signals to an away member; a working connection needs none.
    if (this.#member.state === 'present') this.#open(uniqueId());
  }

  #hello(times = 0): void {
    if (this.#connection) return;
    this.#send({ hello: true });
    this.#setTimer(backoffMs(times, HELLO_RETRY), () => this.#hello(times + 1));
  }

  /** @returns undefined when the browser refuses another RTCPeerConnection. */
  #open(id: string): PeerConnection | undefined {
    this.#drop();
    if (this.#isClosed) return undefined;
    this.#connectionId = id;
    this.#expectConnected();
    const { events } = this.#context;
    try {
      const connection: PeerConnection = new PeerConnection({
        context: this.#context,
        isOfferer: this.#isOfferer,
        stream: this.stream,
        remotePage: this.#remotePage,
        send: (signal) => this.#send({ connection: id, ...signal }),
        onStateChange: () => connection === this.#connection && this.#onStateChange(connection.rtc),
        onChange: () => this.#changed(),
        onData: (data) => events.emit('data', { peer: this, data }),
      });
      this.#connection = connection;
    } catch (error) {
      events.emit('fault', { url: '', code: 0, text: String(error) });
    }
    this.#changed();
    return this.#connection;
  }

  #drop(): void {
    this.#stopTimer?.();
    this.#connection?.close();
    this.#connection = undefined;
  }

  /** Replaces the connection if it is not established in time. */
  #expectConnected(): void {
    this.#setTimer(backoffMs(this.#failures, CONNECT_TIMEOUT), () => {
      this.#failures += 1;
      if (this.#isOfferer) this.#offer();
      this.#changed();
    });
  }

  #onStateChange(rtc: RTCPeerConnection): void {
    if (this.#isConnected) {
      this.#failures = 0;
      this.#stopTimer?.();
    } else if (rtc.connectionState === 'failed') {
      this.#failures += 1;
      this.#expectConnected();
      if (this.#isOfferer) rtc.restartIce();
      else this.#setTimer(RESTART_DELAY_MS, () => rtc.restartIce());
    }
    this.#changed();
  }

  /** The only timer of this peer: setting it cancels the previous one. */
  #setTimer(ms: number, call: () => void): void {
    this.#stopTimer?.();
    if (!this.#isClosed) this.#stopTimer = this.#context.clock.after(ms, call);
  }

  #send(signal: Signal): void {
    this.#sender.send({ page: this.#context.page, ...signal });
  }

  #changed(): void {
    if (!this.#isClosed) this.#context.events.emit('change', this);
  }
}
