/**
 * A connection with every other member. Who offers is decided by the order of joining: of two, the later one (greater
 * seq) makes the first offer and is the polite one. So in every pair exactly one side begins, also anew:
 *
 *   the earlier page was refreshed    the later one sees a new `page` (or, of a peer that names none, a `member:back`)
 *                                     and offers under a new connection name
 *   the later page was refreshed      it finds the others in its snapshot and offers; they take a new name for a new pair
 *   only the server was out of reach  the pages are the same: a connection that runs is kept, one that does not is begun
 *                                     anew by the later one
 */
import type { IceServer, Member, UserId } from '../../src/protocol/index.ts';
import { pageOf } from './page.ts';
import { Pair, type Tracks } from './pair.ts';
import { readSignal, type Signal } from './signals.ts';

export type LinkState = 'connecting' | 'connected' | 'failed';

export interface MeshEvents {
  send: (to: UserId, signal: Signal) => void;
  stream: (of: UserId, stream: MediaStream) => void;
  state: (of: UserId, state: LinkState) => void;
}

interface Link {
  member: Member;
  /** The name of the present pair; undefined when the next offer begins a new one whatever it is called. */
  connection: string | undefined;
  pair?: Pair;
  attempts: number;
  timer?: ReturnType<typeof setTimeout>;
}

/** After it an offer counts as lost. Doubled with every attempt: some networks let nothing through. */
const PATIENCE_MS = 8_000;
const MOST_PATIENCE_MS = 60_000;
const MOST_EARLY = 200;

export class Mesh {
  readonly #links = new Map<UserId, Link>();
  readonly #events: MeshEvents;
  #iceServers: RTCIceServer[] | undefined;
  #ownSeq = 0;
  #tracks: Tracks;
  #early: { from: UserId; data: unknown }[] = [];

  constructor(events: MeshEvents, tracks: Tracks) {
    this.#events = events;
    this.#tracks = tracks;
  }

  /** Nothing is offered or answered before; what arrives earlier waits. */
  start(iceServers: readonly IceServer[]): void {
    this.#iceServers = [...iceServers];
    this.resumed();
    this.#takeEarly();
  }

  /** The room as it is now. */
  update(self: Member, others: readonly Member[]): void {
    this.#ownSeq = self.seq;
    const seated = new Map(others.map((member) => [member.userId, member.seq]));
    for (const [userId, { member }] of this.#links) if (seated.get(userId) !== member.seq) this.#drop(userId);
    for (const member of others) {
      const known = this.#links.get(member.userId);
      if (known !== undefined) this.#renew(known, member);
      else this.#add(member);
    }
    this.#takeEarly();
  }

  /** We are back on the server: what came to nothing meanwhile begins anew. */
  resumed(): void {
    for (const link of this.#links.values()) {
      if (this.#offers(link) && link.pair?.state !== 'connected') this.#offer(link);
    }
  }

  take(from: UserId, data: unknown): void {
    const link = this.#links.get(from);
    if (this.#iceServers === undefined || link === undefined) {
      // A signal may overtake the news of who sends it.
      if (this.#early.length < MOST_EARLY) this.#early.push({ from, data });
      return;
    }
    const signal = readSignal(data);
    if (signal !== undefined) this.#deliver(link, signal);
  }

  setTracks(tracks: Tracks): void {
    this.#tracks = tracks;
    for (const { pair } of this.#links.values()) pair?.setTracks(tracks);
  }

  pairs(): [UserId, Pair][] {
    return [...this.#links].flatMap(([userId, { pair }]) => (pair === undefined ? [] : [[userId, pair]]));
  }

  close(): void {
    for (const userId of this.#links.keys()) this.#drop(userId);
  }

  #add(member: Member): void {
    const link: Link = { member, connection: undefined, attempts: 0 };
    this.#links.set(member.userId, link);
    if (this.#offers(link)) this.#offer(link);
  }

  #renew(link: Link, member: Member): void {
    const before = link.member;
    link.member = member;
    if (member.state === 'away') return;
    const isBack = before.state === 'away';
    const page = pageOf(member);
    const isNew = page === undefined ? isBack : page !== pageOf(before);
    if (!this.#offers(link)) {
      if (isNew) link.connection = undefined;
    } else if (isNew || (isBack && link.pair?.state !== 'connected')) {
      link.attempts = 0;
      this.#offer(link);
    }
  }

  #drop(userId: UserId): void {
    const link = this.#links.get(userId);
    clearTimeout(link?.timer);
    link?.pair?.close();
    this.#links.delete(userId);
  }

  #offers(link: Link): boolean {
    return this.#ownSeq > link.member.seq;
  }

  #offer(link: Link): void {
    clearTimeout(link.timer);
    if (this.#iceServers === undefined || link.member.state === 'away') return;
    const wait = Math.min(PATIENCE_MS * 2 ** link.attempts, MOST_PATIENCE_MS);
    link.attempts += 1;
    this.#begin(link, randomName()).offer();
    link.timer = setTimeout(() => {
      if (link.pair?.state !== 'connected') this.#offer(link);
    }, wait);
  }

  #begin(link: Link, connection: string): Pair {
    const { userId } = link.member;
    link.pair?.close();
    link.connection = connection;
    link.pair = new Pair({
      polite: this.#offers(link),
      iceServers: this.#iceServers ?? [],
      tracks: this.#tracks,
      send: (signal) => this.#events.send(userId, { connection, ...signal }),
      streamChanged: (stream) => this.#events.stream(userId, stream),
      stateChanged: (state) => this.#follow(link, state),
    });
    this.#events.state(userId, link.attempts > 1 ? 'failed' : 'connecting');
    return link.pair;
  }

  #follow(link: Link, state: RTCPeerConnectionState): void {
    const { userId } = link.member;
    if (state === 'connected') {
      link.attempts = 0;
      clearTimeout(link.timer);
      this.#events.state(userId, 'connected');
    } else if (state === 'failed') {
      this.#events.state(userId, 'failed');
      if (this.#offers(link)) this.#offer(link);
      else link.pair?.restartIce();
    }
  }

  #deliver(link: Link, signal: Signal): void {
    const connection = signal.connection ?? link.connection ?? '';
    if (connection === link.connection) link.pair?.take(signal);
    // Only the one who offers names a connection; anything else under another name is late.
    else if (signal.description?.type === 'offer' && !this.#offers(link)) this.#begin(link, connection).take(signal);
  }

  #takeEarly(): void {
    const due = this.#early;
    this.#early = [];
    for (const { from, data } of due) this.take(from, data);
  }
}

/** `crypto.randomUUID` exists on https and localhost only. */
const randomName = (): string => crypto.getRandomValues(new Uint32Array(2)).join('-');
