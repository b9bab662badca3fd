/**
 * A room that this client is in: implements `Room`. It holds a snapshot and applies the events after it in the order of
 * their revisions; at a gap, or at a sign that the server is ahead, it reads the snapshot anew.
 */
import type {
  IceServer,
  Json,
  Member,
  Profile,
  Push,
  Reply,
  RequestInput,
  RequestName,
  RoomSnapshot,
  UserId,
} from '../protocol/index.ts';
import { ChangeBuffer, MAX_HELD } from './change-buffer.ts';
import { Emitter, type Unsubscribe } from './emitter.ts';
import { clientError, type SignalboxError } from './errors.ts';
import type { Room, RoomEnding, RoomEvents } from './room.ts';
import { differences, isChange, isSameJson, type RoomChange, snapshotAfter } from './room-reducer.ts';
import type { Runtime } from './runtime.ts';
import type { AnyPush } from './single-use-socket.ts';
import { SnapshotReader } from './snapshot-reader.ts';

/** The requests of a room to its client. */
export interface RoomOwner {
  /** Sends a request, unless the room has ended by then. @param mayRepeat whether the request is idempotent */
  sendInRoom<Name extends RequestName>(
    room: JoinedRoom,
    name: Name,
    payload: RequestInput<Name>,
    mayRepeat: boolean,
  ): Promise<void>;
  /** The room that the server has us in: without the snapshot if it is at this revision. */
  read(rev: number): Promise<Reply<'room:get'>>;
  /** The server has us in no room, or in another one: joins this room again, or ends it. */
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
  /** Signals that arrived before the first listener was added. */
  #signals: RoomEvents['signal'][] = [];
  /** The last event about our own seat was `member:left` with reason `kicked`. */
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
    // In a microtask: a listener may call the unsubscribe function, which the caller does not have yet.
    if (name === 'signal') queueMicrotask(() => this.#releaseSignals());
    return unsubscribe;
  }

  signal(to: string, data: Json): Promise<void> {
    return this.#sendInRoom('signal', { to, data }, false);
  }

  message(data: Json): Promise<void> {
    return this.#sendInRoom('message', { data }, false);
  }

  setProfile(profile: Profile): Promise<void> {
    return this.#sendInRoom('profile', profile, true);
  }

  update(changes: RequestInput<'room:update'>): Promise<void> {
    return this.#sendInRoom('room:update', changes, true);
  }

  kick(userId: string, { ban = false }: { readonly ban?: boolean } = {}): Promise<void> {
    return this.#sendInRoom('room:kick', { userId, ban }, false);
  }

  close(): Promise<void> {
    return this.#sendInRoom('room:close', {}, false);
  }

  leave(): Promise<void> {
    return this.#owner.leave(this);
  }

  /** Any push that belongs to this room. */
  receive(push: AnyPush): void {
    if (this.#ending !== null) return;
    if (push.name === 'signal') {
      this.#signals.push(push.body);
      if (this.#signals.length > MAX_HELD) this.#signals.shift();
      this.#releaseSignals();
    } else if (push.name === 'message') this.emit('message', push.body);
    else if (push.name === 'room:rev') this.catchUp(push.body.rev);
    else if (push.name === 'room:code-changed') this.#changeCode(push.body);
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
   * Compares our revision with the server's, and reads the snapshot if they differ. A smaller one is adopted, too: the
   * server's store has lost writes.
   *
   * @param rev null: the server has us in no room
   */
  compare(rev: number | null): void {
    if (rev !== this.rev) this.#read();
  }

  /** Applies a snapshot, unless it is older than ours. */
  adopt(snapshot: RoomSnapshot): void {
    if (snapshot.rev >= this.rev) this.#replace(snapshot);
  }

  /** The connection is back, with the same seat or with another one, perhaps under another user id. */
  restored(snapshot: RoomSnapshot, userId: UserId): void {
    const { seq } = this.#self;
    this.#userId = userId;
    this.#replace(snapshot);
    if (this.#ending === null) this.emit(this.#self.seq === seq ? 'resumed' : 'rejoined', undefined);
  }

  setIce(iceServers: readonly IceServer[]): void {
    if (this.#ending !== null || isSameJson(iceServers, this.#iceServers)) return;
    this.#iceServers = iceServers;
    this.emit('ice', iceServers);
  }

  end(ending: RoomEnding): void {
    if (this.#ending !== null) return;
    this.#ending = ending;
    this.#reader.cancel();
    this.emit('ended', ending);
  }

  #changeCode({ code, rev }: Push<'room:code-changed'>): void {
    this.#set({ ...this.#room, code }, null);
    this.catchUp(rev);
  }

  #sendInRoom<Name extends RequestName>(name: Name, payload: RequestInput<Name>, mayRepeat: boolean): Promise<void> {
    return this.#owner.sendInRoom(this, name, payload, mayRepeat);
  }

  #releaseSignals(): void {
    for (let [signal] = this.#signals; signal && this.#ending === null; [signal] = this.#signals) {
      if (!this.emit('signal', signal)) return;
      this.#signals.shift();
    }
  }

  /** Applies a snapshot even if its revision is smaller than ours: the server's store has lost writes. */
  #replace(snapshot: RoomSnapshot): void {
    if (this.#ending !== null) return;
    if (snapshot.rev < this.rev) this.#changes.clear();
    this.#set(snapshot, null);
    this.#applyChanges();
  }

  /** Applies the buffered events that follow our revision, up to the next gap. */
  #applyChanges(): void {
    for (let change = this.#next(); change !== undefined; change = this.#next()) {
      this.#set(snapshotAfter(this.#room, change), change);
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
      // Reading decides: the event may be about an earlier seat of ours, and a later push may give a more precise reason.
      this.#isKicked = change?.name === 'member:left' && change.body.reason === 'kicked';
      this.#read();
      return;
    }
    this.#room = room;
    this.#self = self;
    for (const { name, body } of differences(before, room)) {
      const reason = change?.name === 'member:left' ? change.body.reason : null;
      // Cast: name and body are a pair, which the compiler cannot follow through the loop.
      this.emit(name, (name === 'member:left' ? { ...body, reason } : body) as RoomEvents[typeof name]);
      if (this.#ending !== null) return;
    }
    if (room.rev !== before.rev || room.code !== before.code) this.emit('change', { room, before });
  }

  #read(): void {
    if (this.#ending === null) void this.#reader.now();
  }

  async #readSnapshot(): Promise<void> {
    const { rev } = this;
    const { closeReason } = this.#changes;
    // The room has ended: the events missing before its end do not matter.
    if (closeReason !== undefined) return this.end({ reason: closeReason });
    try {
      const { ref, room } = await this.#owner.read(rev);
      if (ref !== this.ref) return this.#owner.rejoin(this);
      // `rev` below that at request time: the store was restored. Below the current `rev`: the reply is stale.
      if (room !== undefined && room.rev < rev) this.#replace(room);
      else if (room !== undefined) this.adopt(room);
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
