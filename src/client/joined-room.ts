/**
 * A room that this client is in: implements `Room`. It holds a snapshot and applies the events after it in the order of
 * their revisions; at a gap, or at a sign that the server is ahead, it reads the snapshot anew.
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
import { ChangeBuffer, MAX_HELD } from './change-buffer.ts';
import { Emitter, type Unsubscribe } from './emitter.ts';
import { clientError, type SignalboxError } from './errors.ts';
import type { Room, RoomEnding, RoomEvents } from './room.ts';
import { applied, differences, isChange, type RoomChange, same } from './room-reducer.ts';
import type { Runtime } from './runtime.ts';
import type { AnyPush } from './single-use-socket.ts';
import { SnapshotReader } from './snapshot-reader.ts';

/** What a room asks of the client that is in it. */
export interface RoomOwner {
  /** Sends a request, unless the room has ended by then. @param mayRepeat whether doing it twice does no harm */
  askIn<Name extends RequestName>(
    room: JoinedRoom,
    name: Name,
    payload: RequestInput<Name>,
    mayRepeat: boolean,
  ): Promise<void>;
  /** The snapshot of the room that the server has us in. */
  read(): Promise<RoomSnapshot>;
  /** The server has us in no room, or in another one: take a seat in this one again, or end it. */
  rejoin(room: JoinedRoom): void;
  leave(room: JoinedRoom): Promise<void>;
  kicked(): void;
}

export class JoinedRoom extends Emitter<RoomEvents> implements Room {
  readonly #owner: RoomOwner;
  readonly #reader: SnapshotReader;
  readonly #changes = new ChangeBuffer();
  #room: RoomSnapshot;
  #userId: UserId;
  #self: Member;
  #iceServers: readonly IceServer[];
  #ending: RoomEnding | null = null;
  /** Signals from before anybody listened. */
  #signals: RoomEvents['signal'][] = [];
  /** An event has said that the host took the seat away. */
  #isKicked = false;

  /** @throws SignalboxError when the user is not in that room. */
  constructor(
    room: RoomSnapshot,
    userId: UserId,
    iceServers: readonly IceServer[],
    owner: RoomOwner,
    runtime: Runtime,
  ) {
    super();
    const self = memberOf(room, userId);
    if (self === undefined) throw clientError('CLOSED');
    this.#room = room;
    this.#userId = userId;
    this.#self = self;
    this.#iceServers = iceServers;
    this.#owner = owner;
    this.#reader = new SnapshotReader(
      () => this.#readSnapshot(),
      () => this.#applyChanges(),
      runtime,
    );
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
    // Not within this call: the caller does not have the unsubscribe function yet.
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
    return this.#owner.leave(this);
  }

  /** Any push that belongs to this room. */
  take(push: AnyPush): void {
    if (this.#ending !== null) return;
    if (push.name === 'signal') {
      this.#signals.push(push.body);
      if (this.#signals.length > MAX_HELD) this.#signals.shift();
      this.#releaseSignals();
    } else if (push.name === 'message') this.emit('message', push.body);
    else if (push.name === 'room:rev') this.catchUp(push.body.rev);
    else if (isChange(push)) {
      this.#changes.add(push);
      this.#applyChanges();
    }
  }

  /** @param rev a revision that the room has reached */
  catchUp(rev: number): void {
    if (rev > this.rev) this.#read();
  }

  /**
   * Compares with what the server has just answered. A smaller revision than ours: its store has lost some writes, and it
   * counts all the same.
   *
   * @param rev null: the server has us in no room
   */
  compare(rev: number | null): void {
    if (rev !== this.rev) this.#read();
  }

  /** Takes over a snapshot that may be older than ours. */
  adopt(snapshot: RoomSnapshot): void {
    if (snapshot.rev >= this.rev) this.#replace(snapshot);
  }

  /** The connection is back, and with it a seat: the same, or another one, perhaps under another user id. */
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
    this.#reader.cancel();
    this.emit('ended', ending);
  }

  #ask<Name extends RequestName>(name: Name, payload: RequestInput<Name>, mayRepeat: boolean): Promise<void> {
    return this.#owner.askIn(this, name, payload, mayRepeat);
  }

  #releaseSignals(): void {
    for (let [signal] = this.#signals; signal && this.#ending === null; [signal] = this.#signals) {
      if (!this.emit('signal', signal)) return;
      this.#signals.shift();
    }
  }

  /** With the server's present state, even if it is behind ours: then its store has lost some writes. */
  #replace(snapshot: RoomSnapshot): void {
    if (this.#ending !== null) return;
    if (snapshot.rev < this.rev) this.#changes.clear();
    this.#set(snapshot, null);
    this.#applyChanges();
  }

  /** Applies the events that follow, up to the next gap. */
  #applyChanges(): void {
    for (let change = this.#next(); change !== undefined; change = this.#next()) {
      this.#set(applied(this.#room, change), change);
      if (change.name === 'room:closed') this.end({ reason: change.body.reason });
    }
    if (this.#changes.isEmpty || this.#ending !== null) this.#reader.cancel();
    else this.#reader.soon();
  }

  #next(): RoomChange | undefined {
    return this.#ending === null ? this.#changes.takeAfter(this.rev) : undefined;
  }

  #set(room: RoomSnapshot, change: RoomChange | null): void {
    const before = this.#room;
    const self = memberOf(room, this.#userId);
    if (self === undefined) {
      // The read decides: the event may be of an earlier seat of ours, and a later push may give a better reason.
      this.#isKicked = change?.name === 'member:left' && change.body.reason === 'kicked';
      this.#read();
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

  #read(): void {
    if (this.#ending === null) void this.#reader.now();
  }

  async #readSnapshot(): Promise<void> {
    const { rev } = this;
    const { closeReason } = this.#changes;
    // The room is over: the events of the gap before that do not matter.
    if (closeReason !== undefined) return this.end({ reason: closeReason });
    try {
      const room = await this.#owner.read();
      // A smaller revision than before the request: the store has lost writes. Than by now: events have overtaken the reply.
      if (room.ref === this.ref && room.rev < rev) this.#replace(room);
      else if (room.ref === this.ref) this.adopt(room);
      else this.#owner.rejoin(this);
    } catch (error) {
      const { code } = error as Partial<SignalboxError>;
      if (code === 'CODE_EXPIRED') this.end({ reason: 'expired' });
      else if (code === 'NOT_IN_ROOM' && this.#isKicked) this.#owner.kicked();
      else if (code === 'NOT_IN_ROOM') this.#owner.rejoin(this);
      if (this.#ending === null) throw error;
    }
  }
}

const memberOf = ({ members }: RoomSnapshot, userId: UserId): Member | undefined =>
  members.find((member) => member.userId === userId);
