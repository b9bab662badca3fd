/**
 * The seat of this client in a room: what `Room` promises. It holds a snapshot and applies the events after it in the
 * order of their revisions; it holds the truth, or knows that it does not, and asks.
 */
import type {
  IceServer,
  Json,
  Member,
  Profile,
  RequestInput,
  RequestName,
  RoomSnapshot,
  UserId,
} from '../protocol/index.ts';
import { DEFAULT_BACKOFF, delayBefore } from './backoff.ts';
import { Emitter, type Unsubscribe } from './emitter.ts';
import { clientError, type SignalboxError } from './errors.ts';
import type { Room, RoomEnding, RoomEvents } from './room.ts';
import { applied, differences, isChange, type RoomChange, same } from './room-reducer.ts';
import type { AnyPush } from './single-use-socket.ts';

export interface SeatSetup {
  readonly ask: <Name extends RequestName>(
    name: Name,
    payload: RequestInput<Name>,
    repeat: boolean,
    isDue: () => boolean,
  ) => Promise<unknown>;
  readonly read: () => Promise<RoomSnapshot>;
  /** The server knows us in this room no more: take a seat again, or end it. */
  readonly rejoin: (seat: JoinedRoom) => void;
  readonly leave: (seat: JoinedRoom) => Promise<void>;
  readonly kicked: () => void;
}

/** Events of several nodes overtake each other by some milliseconds: a gap that closes by itself needs no snapshot. */
const GAP_MS = 250;
/** More than can overtake a snapshot; it bounds what a server gone wild can make a page hold. */
export const MAX_HELD = 500;

export class JoinedRoom extends Emitter<RoomEvents> implements Room {
  readonly #setup: SeatSetup;
  #room: RoomSnapshot;
  #userId: UserId;
  #self: Member;
  #iceServers: readonly IceServer[];
  #ending: RoomEnding | null = null;
  /** Events after a gap, in no order. */
  #held: RoomChange[] = [];
  /** Signals that came before anybody listened. */
  #signals: RoomEvents['signal'][] = [];
  #gap: ReturnType<typeof setTimeout> | undefined;
  #isReading = false;
  /** Reads in a row that came to nothing. */
  #failures = 0;
  /** It is said that the host took the seat away. */
  #isKicked = false;

  /** @throws SignalboxError when the user is not in that room. */
  constructor(room: RoomSnapshot, userId: UserId, iceServers: readonly IceServer[], setup: SeatSetup) {
    super();
    const self = memberOf(room, userId);
    if (self === undefined) throw clientError('CLOSED');
    this.#room = room;
    this.#userId = userId;
    this.#self = self;
    this.#iceServers = iceServers;
    this.#setup = setup;
  }

  get code() {
    return this.#room.code;
  }

  get ref() {
    return this.#room.ref;
  }

  get rev() {
    return this.#room.rev;
  }

  get members() {
    return this.#room.members;
  }

  get snapshot() {
    return this.#room;
  }

  get iceServers() {
    return this.#iceServers;
  }

  get ending() {
    return this.#ending;
  }

  get self() {
    return this.#self;
  }

  override on<Name extends keyof RoomEvents>(name: Name, listener: (body: RoomEvents[Name]) => void): Unsubscribe {
    const unsubscribe = super.on(name, listener);
    // Not within this very call: who listens has not yet got what takes the listener back.
    if (name === 'signal') queueMicrotask(() => this.#releaseSignals());
    return unsubscribe;
  }

  signal(to: string, data: Json): Promise<void> {
    return this.#ask('signal', { to, data }, false);
  }

  message(data: Json): Promise<void> {
    return this.#ask('message', { data }, false);
  }

  setProfile(profile: Profile): Promise<void> {
    return this.#ask('profile', profile, true);
  }

  update(changes: RequestInput<'room:update'>): Promise<void> {
    return this.#ask('room:update', changes, true);
  }

  kick(userId: string, { ban = false }: { readonly ban?: boolean } = {}): Promise<void> {
    return this.#ask('room:kick', { userId, ban }, false);
  }

  close(): Promise<void> {
    return this.#ask('room:close', {}, false);
  }

  leave(): Promise<void> {
    return this.#setup.leave(this);
  }

  /** Anything that the server says of this room. */
  take(push: AnyPush): void {
    if (this.#ending !== null) return;
    if (push.name === 'signal') {
      this.#signals.push(push.body);
      if (this.#signals.length > MAX_HELD) this.#signals.shift();
      this.#releaseSignals();
    } else if (push.name === 'message') this.emit('message', push.body);
    else if (push.name === 'room:rev') this.hint(push.body.rev);
    else if (isChange(push)) this.#hold(push);
  }

  /** The revision that the room is said to have reached; null: that we are in no room. */
  hint(rev: number): void {
    if (rev > this.rev) void this.#read();
  }

  /**
   * The same, from the server's own lips, just now. Less than ours: its store has lost what it had told us.
   *
   * @param rev null: that we are in no room
   */
  compare(rev: number | null): void {
    if (rev !== this.rev) void this.#read();
  }

  /** A snapshot of this room, as of just now or of long ago. */
  adopt(snapshot: RoomSnapshot): void {
    if (snapshot.rev >= this.rev) this.#replace(snapshot);
  }

  /** The connection is back, and the seat is ours: still, or again, and then perhaps under another id. */
  returned(snapshot: RoomSnapshot, userId: UserId): void {
    const { seq } = this.#self;
    this.#userId = userId;
    this.#replace(snapshot);
    if (this.#ending === null) this.emit(this.#self.seq === seq ? 'resumed' : 'rejoined', undefined);
  }

  setIce(iceServers: readonly IceServer[]): void {
    if (this.#ending !== null || same(iceServers, this.#iceServers)) return;
    this.#iceServers = iceServers;
    this.emit('ice', iceServers);
  }

  end(ending: RoomEnding): void {
    if (this.#ending !== null) return;
    this.#ending = ending;
    clearTimeout(this.#gap);
    this.emit('ended', ending);
  }

  async #ask<Name extends RequestName>(name: Name, payload: RequestInput<Name>, repeat: boolean): Promise<void> {
    // What is asked of a room that is over must not reach the next one, however long it has waited to be sent.
    await this.#setup.ask(name, payload, repeat, () => this.#ending === null);
  }

  /** With what the server has just said. Even when we have been further: then its store has lost that. */
  #replace(snapshot: RoomSnapshot): void {
    if (this.#ending !== null) return;
    if (snapshot.rev < this.rev) this.#held = [];
    this.#set(snapshot, null);
    this.#applyHeld();
  }

  #releaseSignals(): void {
    for (let [signal] = this.#signals; signal && this.#ending === null; [signal] = this.#signals) {
      if (!this.emit('signal', signal)) return;
      this.#signals.shift();
    }
  }

  #hold(change: RoomChange): void {
    this.#held.push(change);
    if (this.#held.length > MAX_HELD) this.#held.shift();
    this.#applyHeld();
  }

  /** Applies whatever is next, drops what is past, keeps what comes after a gap. */
  #applyHeld(): void {
    const due = this.#held.sort((one, other) => one.body.rev - other.body.rev);
    this.#held = [];
    for (const change of due) {
      if (change.body.rev > this.rev + 1) this.#held.push(change);
      else if (change.body.rev === this.rev + 1 && this.#ending === null) this.#apply(change);
    }
    if (this.#held.length > 0 && this.#ending === null) this.#gap ??= setTimeout(() => void this.#read(), GAP_MS);
    else this.#forgetGap();
  }

  #forgetGap(): void {
    clearTimeout(this.#gap);
    this.#gap = undefined;
  }

  #apply(change: RoomChange): void {
    this.#set(applied(this.#room, change), change);
    if (change.name === 'room:closed') this.end({ reason: change.body.reason });
  }

  #set(room: RoomSnapshot, change: RoomChange | null): void {
    const before = this.#room;
    const self = memberOf(room, this.#userId);
    if (self === undefined) {
      // Why, another push may say better; and it may be of a seat before this one.
      this.#isKicked = change?.name === 'member:left' && change.body.reason === 'kicked';
      void this.#read();
      return;
    }
    this.#room = room;
    this.#self = self;
    for (const { name, body } of differences(before, room)) {
      const reason = change?.name === 'member:left' ? change.body.reason : null;
      // Name and body belong together; the compiler cannot follow them through the loop.
      this.emit(name, (name === 'member:left' ? { ...body, reason } : body) as RoomEvents[typeof name]);
      if (this.#ending !== null) return;
    }
    if (room.rev !== before.rev) this.emit('change', { room, before });
  }

  async #read(): Promise<void> {
    this.#forgetGap();
    if (this.#isReading || this.#ending !== null) return;
    // What was missed before the end matters no more.
    for (const { name, body } of this.#held) if (name === 'room:closed') return this.end({ reason: body.reason });
    this.#isReading = true;
    try {
      const { rev } = this;
      const room = await this.#setup.read();
      // Less than what we had when we asked can only be the store's loss; less than what we have by now is only late.
      if (room.ref === this.ref && room.rev < rev) this.#replace(room);
      else if (room.ref === this.ref) this.adopt(room);
      else this.#setup.rejoin(this);
      this.#failures = 0;
    } catch (error) {
      this.#unread(error as Partial<SignalboxError>);
    }
    this.#isReading = false;
    this.#applyHeld();
  }

  /** @param error whatever it was: without one of our codes it is tried again */
  #unread({ code, retryAfterMs }: Partial<SignalboxError>): void {
    if (code === 'NOT_IN_ROOM') (this.#isKicked ? this.#setup.kicked : this.#setup.rejoin)(this);
    else if (code === 'CODE_EXPIRED') this.end({ reason: 'expired' });
    if (this.#ending !== null) return;
    // A server in trouble is not asked for the room four times a second by everybody in it.
    const waitMs = delayBefore(this.#failures, DEFAULT_BACKOFF, GAP_MS + (retryAfterMs ?? 0));
    this.#failures += 1;
    this.#forgetGap();
    this.#gap = setTimeout(() => void this.#read(), waitMs);
  }
}

const memberOf = ({ members }: RoomSnapshot, userId: UserId): Member | undefined =>
  members.find((member) => member.userId === userId);
