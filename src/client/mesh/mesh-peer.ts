/**
 * One other member, and the connection with it. Of two members the one with the greater `seq` makes the first offer of
 * every connection, so exactly one side begins, also anew:
 *
 *   one of the pages was refreshed    signals of the new page have another `page`: the connection is dropped. A page that
 *                                     waits for an offer sends `hello`, so that the other side learns of it
 *   only the server was out of reach  the pages are the same, and so is the connection: ICE is restarted
 *   the connection does not come up   a new one after a while, with back-off
 *
 * A peer that names no `page` may be another process each time: its connection is made anew in every doubt.
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

/** Between two `hello` while no offer comes. */
const HELLO = { firstMs: 4_000, maxMs: 30_000 };
/** What a connection is given to come up. */
const PATIENCE = { firstMs: 10_000, maxMs: 60_000 };
/** How long the side that does not offer leaves an ICE restart to the other side. */
const RESTART_DELAY_MS = 5_000;

export class MeshPeer implements Peer {
  /** The same for all connections: a player goes on playing it after a refresh of their page. */
  readonly stream = new MediaStream();
  readonly #context: MeshContext;
  readonly #sender: SignalSender;
  readonly #sampler: Sampler;
  readonly #remotePage: RemotePage;
  #member: Member;
  #connection: PeerConnection | undefined;
  /** Chosen by the side that offers: names the connection in its signals. */
  #connectionId = '';
  /** Attempts in a row that failed. */
  #failures = 0;
  #stopTimer: Stop | undefined;
  #isClosed = false;

  constructor(context: MeshContext, member: Member) {
    const { clock } = context;
    this.#context = context;
    this.#member = member;
    this.#sampler = new Sampler(clock);
    this.#remotePage = new RemotePage(clock);
    // A signal of an earlier connection has no meaning any more.
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

  get #offers(): boolean {
    return this.#context.room.self.seq > this.#member.seq;
  }

  send(data: Json): boolean {
    return this.#connection?.channel?.send(data) ?? false;
  }

  async stats(): Promise<PeerStats> {
    return this.#sampler.read((await this.#connection?.rtc.getStats()) ?? null);
  }

  /** @param helloMs when an offer is asked for: a member that has just joined makes it without being asked. */
  begin(helloMs = HELLO.firstMs): void {
    if (this.#offers) this.#offer();
    else this.#after(helloMs, () => this.#hello());
  }

  update(member: Member): void {
    const before = this.#member;
    this.#member = member;
    if (before.state === 'away') this.refresh();
    if (before !== member) this.#changed();
  }

  /** One side had lost the server and is back: signals of that time are lost, and the network may be another one. */
  refresh(): void {
    if (this.#member.state === 'away') return;
    const connection = this.#connection;
    if (connection && this.#remotePage.isKnown && (this.#isConnected || !this.#offers)) {
      connection.resend();
      if (this.#offers) connection.rtc.restartIce();
    } else this.reset(0);
  }

  /** Drops the connection and begins anew. */
  reset(helloMs?: number): void {
    this.#drop();
    this.begin(helloMs);
    this.#changed();
  }

  take(signal: Signal): void {
    const { page, hello, description, again, connection } = signal;
    // The first signals of a page. Any other signal of an unknown page is late, or overtakes the first.
    const isFirst =
      hello || (description?.type === 'offer' ? !again : description && connection === this.#connectionId);
    const from = isFirst ? this.#remotePage.compare(page) : 'same';
    if (from === 'former' || (from === 'new' && !this.#changePage(page))) return;
    if (!hello) this.#deliver(signal);
    else if (!this.#offers) return;
    else if (this.#connection && !this.#connection.hasRemote) this.#connection.resend();
    else if (!this.#isConnected) this.#offer();
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
    this.#sender.close();
  }

  /** @returns whether the signal from that page is still to be delivered. */
  #changePage(page: string | undefined): boolean {
    this.#remotePage.change(page);
    // The connection has no answer yet: this page is the one that answers.
    if (!this.#connection?.hasRemote) return true;
    this.#failures = 0;
    this.reset();
    return !this.#offers;
  }

  #deliver(signal: Signal): void {
    const { connection = this.#connectionId, negotiation = Infinity, description, again } = signal;
    if (this.#connection && connection === this.#connectionId) this.#connection.take(signal);
    // Only the side that offers names a connection: another name is one of the past.
    else if (this.#offers || description?.type !== 'offer') return;
    else if (again) this.#hello();
    // An older offer than the last one was overtaken by it.
    else if (negotiation > this.#remotePage.lastOffer) this.#open(connection)?.take(signal);
  }

  #offer(): void {
    // An away member gets no signals. If the connection works, it needs none.
    if (this.#member.state === 'present') this.#open(uniqueId());
  }

  #hello(times = 0): void {
    if (this.#connection) return;
    this.#send({ hello: true });
    this.#after(backoffMs(times, HELLO), () => this.#hello(times + 1));
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
        offers: this.#offers,
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

  /** Begins anew if it is not connected in time. */
  #expectConnected(): void {
    this.#after(backoffMs(this.#failures, PATIENCE), () => {
      this.#failures += 1;
      if (this.#offers) this.#offer();
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
      if (this.#offers) rtc.restartIce();
      else this.#after(RESTART_DELAY_MS, () => rtc.restartIce());
    }
    this.#changed();
  }

  /** One timer: another wait takes the place of the one before. */
  #after(ms: number, call: () => void): void {
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
