/**
 * One other member, and whichever pair there is with it. Of two members the one with the greater `seq` makes the first
 * offer of every pair, so exactly one side begins, also anew:
 *
 *   one of the pages was refreshed    the signals of the new page have another `page`: the pair is thrown away. A page
 *                                     that has to wait for an offer says hello, so that the other one hears of it
 *   only the server was out of reach  the pages are the same, and so is the connection: it only looks for a better way
 *   nothing comes about               a new pair after a while, each time a longer one
 *
 * Of a peer without a `page` it cannot be known whether it is the same process: it is begun anew whenever it may not be.
 */

import type { Json, Member, UserId } from '../../protocol/index.ts';
import { uniqueId } from '../unique-id.ts';
import type { Peer, PeerState } from './mesh.ts';
import type { MeshContext } from './mesh-context.ts';
import { PeerConnection } from './peer-connection.ts';
import { SignalSender } from './signal-sender.ts';
import type { Signal } from './signals.ts';
import { type PeerStats, Sampler } from './stats.ts';

const HELLO_MS = 4_000;
const MAX_HELLO_MS = 30_000;
const PATIENCE_MS = 10_000;
const MAX_PATIENCE_MS = 60_000;
/** How long the one who does not begin leaves it to the other one to repair a connection. */
const COURTESY_MS = 5_000;
/** How long something may still come from a page that is gone. Not for ever: we may be mistaken in which was the later. */
const ECHO_MS = 3_000;

export class MeshPeer implements Peer {
  readonly #shared: MeshContext;
  readonly #outbox: SignalSender;
  /** One for all pairs: whoever plays it has nothing to do when a page is refreshed. */
  readonly stream = new MediaStream();
  readonly #sampler = new Sampler();
  #member: Member;
  #page: string | undefined;
  /** The one before, and when it was superseded. */
  #former: string | undefined;
  #turnedAt = 0;
  readonly #theirs = { heard: 0 };
  #pair: PeerConnection | undefined;
  #connection = '';
  /** How many tries have come to nothing since it was connected. */
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(shared: MeshContext, member: Member) {
    this.#shared = shared;
    this.#member = member;
    // Whatever belongs to an earlier pair is of no use any more.
    this.#outbox = new SignalSender(
      shared.room,
      member.userId,
      ({ connection = this.#connection }) =>
        !this.#isClosed && this.#member.state === 'present' && connection === this.#connection,
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
    return this.#pair?.media.screen ?? null;
  }

  get canSend(): boolean {
    return this.#pair?.line?.isOpen() ?? false;
  }

  get pair(): PeerConnection | undefined {
    return this.#pair;
  }

  get #isConnected(): boolean {
    return this.#pair?.connection.connectionState === 'connected';
  }

  get #offers(): boolean {
    return this.#shared.room.self.seq > this.#member.seq;
  }

  send(data: Json): boolean {
    return this.#pair?.line?.send(data) ?? false;
  }

  async stats(): Promise<PeerStats> {
    return this.#sampler.read((await this.#pair?.connection.getStats()) ?? null);
  }

  /** @param helloMs how long an offer may take before we ask for it: one who has just joined makes it by itself. */
  begin(helloMs: number = HELLO_MS): void {
    if (this.#offers) this.#offer();
    else this.#after(helloMs, () => this.#hello(HELLO_MS));
  }

  update(member: Member): void {
    const before = this.#member;
    this.#member = member;
    if (before.state === 'away') this.refresh();
    if (before !== member) this.#changed();
  }

  /** One of us has lost the server and is back. What was sent meanwhile has not arrived, and the way may be another. */
  refresh(): void {
    if (this.#member.state === 'away') return;
    const pair = this.#pair;
    if (pair && this.#page !== undefined && (this.#isConnected || !this.#offers)) {
      pair.resend();
      if (this.#offers) pair.connection.restartIce();
    } else this.reset(0);
  }

  /** Whatever there was is void. */
  reset(helloMs?: number): void {
    this.#drop();
    this.begin(helloMs);
    this.#changed();
  }

  take(signal: Signal): void {
    const { page, hello, description, again, connection } = signal;
    // What a page begins with. Anything else from another page is late, or early: then the beginning is still to come.
    const isBeginning =
      hello || (description?.type === 'offer' ? !again : description && connection === this.#connection);
    if (isBeginning && page !== undefined && page !== this.#page && !this.#turn(page)) return;
    if (!hello) this.#deliver(signal);
    else if (!this.#offers) return;
    else if (this.#pair && !this.#pair.isMet) this.#pair.resend();
    else if (!this.#isConnected) this.#offer();
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
    this.#outbox.close();
  }

  /** @returns whether the signal with this page is still to be delivered. */
  #turn(page: string): boolean {
    const now = performance.now();
    if (page === this.#former && now < this.#turnedAt + ECHO_MS) return false;
    this.#former = this.#page;
    this.#turnedAt = now;
    this.#page = page;
    this.#theirs.heard = 0;
    // Without an answer so far, it is this page that answers.
    if (!this.#pair?.isMet) return true;
    this.#failures = 0;
    this.reset();
    return !this.#offers;
  }

  #deliver(signal: Signal): void {
    const { connection = this.#connection, negotiation = Infinity, description, again } = signal;
    if (this.#pair && connection === this.#connection) this.#pair.take(signal);
    // Only the one who offers names a connection: what has another name is late.
    else if (this.#offers || description?.type !== 'offer') return;
    else if (again) this.#hello(HELLO_MS);
    // Not later than the one we have: it was overtaken.
    else if (negotiation > this.#theirs.heard) this.#open(connection)?.take(signal);
  }

  #offer(): void {
    // Whoever is away hears nothing, and a connection that runs needs no server.
    if (this.#member.state === 'present') this.#open(uniqueId());
  }

  #hello(nextMs: number): void {
    if (this.#pair) return;
    this.#send({ hello: true });
    this.#after(nextMs, () => this.#hello(Math.min(nextMs * 2, MAX_HELLO_MS)));
  }

  /** @returns undefined when the browser does not give us another connection now. */
  #open(connection: string): PeerConnection | undefined {
    this.#drop();
    if (this.#isClosed) return undefined;
    this.#connection = connection;
    this.#await();
    const { events } = this.#shared;
    try {
      const pair: PeerConnection = new PeerConnection({
        shared: this.#shared,
        offers: this.#offers,
        stream: this.stream,
        theirs: this.#theirs,
        send: (signal) => this.#send({ connection, ...signal }),
        moved: () => pair === this.#pair && this.#follow(pair.connection),
        changed: () => this.#changed(),
        heard: (data) => events.emit('data', { peer: this, data }),
      });
      this.#pair = pair;
    } catch (error) {
      events.emit('fault', { url: '', code: 0, text: String(error) });
    }
    this.#changed();
    return this.#pair;
  }

  #drop(): void {
    clearTimeout(this.#timer);
    this.#pair?.close();
    this.#pair = undefined;
  }

  /** Gives the pair some time. */
  #await(): void {
    this.#after(Math.min(PATIENCE_MS * 2 ** this.#failures, MAX_PATIENCE_MS), () => {
      this.#failures += 1;
      if (this.#offers) this.#offer();
      this.#changed();
    });
  }

  #follow(connection: RTCPeerConnection): void {
    if (this.#isConnected) {
      this.#failures = 0;
      clearTimeout(this.#timer);
    } else if (connection.connectionState === 'failed') {
      this.#failures += 1;
      this.#await();
      if (this.#offers) connection.restartIce();
      else this.#after(COURTESY_MS, () => connection.restartIce());
    }
    this.#changed();
  }

  /** One thing is waited for at a time. */
  #after(ms: number, act: () => void): void {
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#timer = setTimeout(act, ms);
  }

  #send(signal: Signal): void {
    this.#outbox.post({ page: this.#shared.page, ...signal });
  }

  #changed(): void {
    if (!this.#isClosed) this.#shared.events.emit('change', this);
  }
}
