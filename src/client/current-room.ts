/**
 * The room that the client is in: joining, restoring after a lost connection, and leaving. The server may have the user in
 * another room, or in none: every such difference is repaired here.
 */
import type {
  IceServer,
  Profile,
  Push,
  Reply,
  RequestInput,
  RequestName,
  RoomSnapshot,
  UserId,
} from '../protocol/index.ts';
import { MAX_HELD } from './change-buffer.ts';
import type { Ask, Connection } from './connection.ts';
import { clientError, SignalboxError } from './errors.ts';
import type { RevisionSource } from './heartbeat.ts';
import { JoinedRoom, type RoomOwner } from './joined-room.ts';
import type { Requests } from './requests.ts';
import type { Room, RoomEnding } from './room.ts';
import type { Runtime } from './runtime.ts';
import { SignalPacer } from './signal-pacer.ts';
import type { AnyPush } from './single-use-socket.ts';
import type { TokenStore } from './token-store.ts';
import { Waiters } from './waiters.ts';

/** The reply to a request that takes a seat. */
export interface JoinReply {
  readonly room: RoomSnapshot;
  readonly iceServers: IceServer[];
}

export interface CurrentRoomDeps {
  readonly connection: Connection;
  readonly requests: Requests;
  readonly tokens: TokenStore;
  readonly runtime: Runtime;
  /** Called when the client is in another room. */
  readonly onEntered: (room: Room) => void;
}

export class CurrentRoom implements RoomOwner, RevisionSource {
  readonly #deps: CurrentRoomDeps;
  readonly #ask: Ask;
  readonly #pacer: SignalPacer;
  #room: JoinedRoom | null = null;
  #userId: UserId | null = null;
  /** Create and join requests under way. Pushes of an unknown room may belong to the room in the reply. */
  #seatRequests = 0;
  /** Callers that wait until `#seatRequests` is 0. */
  readonly #idleWaiters: Waiters;
  #earlyPushes: AnyPush[] = [];
  #isRejoining = false;

  constructor(deps: CurrentRoomDeps) {
    this.#deps = deps;
    this.#ask = (name, payload) => deps.requests.send(name, payload, { mayRepeat: true });
    this.#idleWaiters = new Waiters(deps.runtime.clock);
    this.#pacer = new SignalPacer(deps.runtime.clock);
  }

  get room(): Room | null {
    return this.#room;
  }

  get userId(): UserId | null {
    return this.#userId;
  }

  get rev(): number | undefined {
    return this.#room?.rev;
  }

  /** Creates or joins a room. @param ask sends the request */
  async enter(ask: (ask: Ask) => Promise<JoinReply>): Promise<Room> {
    this.#seatRequests += 1;
    let joined: JoinedRoom | null = null;
    try {
      const { room, iceServers } = await ask(this.#ask);
      joined = this.#adoptSeat(room, iceServers);
      return joined;
    } catch (error) {
      throw error instanceof SignalboxError ? error : clientError('INTERNAL');
    } finally {
      this.#seatRequests -= 1;
      if (this.#seatRequests === 0) {
        this.#earlyPushes = [];
        this.#idleWaiters.release();
      }
      // Refused, or the reply was lost: after a lost reply, the server may have us in that room.
      if (joined === null) this.compare(Number.POSITIVE_INFINITY);
    }
  }

  /** After a welcome: resumes our seat, or the seat that this tab had before the page was loaded. */
  async restore({ userId, room, limits }: Push<'welcome'>, ask: Ask): Promise<void> {
    this.#pacer.begin(limits);
    const isFirst = this.#userId === null;
    this.#userId = userId;
    const current = this.#room;
    if (current !== null) {
      if (room?.ref !== current.ref) return await this.#takeNewSeat(current, ask);
      current.restored(room, userId);
      void iceOver(ask).then((iceServers) => iceServers && current.setIce(iceServers));
    } else if (room !== null && isFirst) {
      await this.enter(async () => ({ room, iceServers: (await iceOver(ask)) ?? [] }));
    } else if (room !== null && this.#seatRequests === 0) await ask('room:leave', {});
  }

  receive(push: AnyPush): void {
    if (push.name === 'ice') this.#room?.setIce(push.body.iceServers);
    else if (this.#room !== null && refOf(push) === this.#room.ref) this.#room.receive(push);
    else if (this.#seatRequests > 0 && this.#earlyPushes.push(push) > MAX_HELD) this.#earlyPushes.shift();
  }

  compare(rev: number | null): void {
    // The reply to the request under way decides which room we are in.
    if (this.#seatRequests > 0) return;
    if (this.#room !== null) this.#room.compare(rev);
    else if (rev !== null) this.#freeSeat().catch(() => {});
  }

  end(ending: RoomEnding): void {
    this.#room?.end(ending);
  }

  async sendInRoom<Name extends RequestName>(
    room: JoinedRoom,
    name: Name,
    payload: RequestInput<Name>,
    mayRepeat: boolean,
  ): Promise<void> {
    const { requests, runtime } = this.#deps;
    const isSignal = name === 'signal';
    const cost = isSignal ? 1 : tokensOf(room.members);
    // Before the deadline begins: a large mesh queues for longer than a request may take.
    const turn = this.#pacer.turn(cost, isSignal);
    if (turn) await turn;
    try {
      const until = requests.deadline();
      // Sent after a request for another room, this request would reach that room.
      while (this.#seatRequests > 0) {
        if (runtime.clock.monotonic() >= until) throw clientError('TIMEOUT');
        await this.#idleWaiters.wait(until);
      }
      // `isDue`: a request that has waited until its room ended must not reach the next room.
      await requests.send(name, payload, { mayRepeat, isDue: () => room.ending === null, until });
    } finally {
      this.#pacer.answered(cost);
    }
  }

  read(rev: number): Promise<Reply<'room:get'>> {
    return this.#ask('room:get', { rev });
  }

  rejoin(room: JoinedRoom): void {
    this.#takeNewSeat(room, this.#ask).catch((error) => this.#deps.connection.restart(error));
  }

  async leave(room: JoinedRoom): Promise<void> {
    if (room !== this.#room) return;
    room.end({ reason: 'left' });
    // A page that is reloaded before the server has the request must not resume the seat.
    if (this.#deps.connection.state !== 'online') this.#deps.tokens.forgetStored();
    // A request for another room frees this seat when it succeeds; when it fails, `enter` compares and frees it.
    if (this.#seatRequests === 0) await this.#freeSeat();
  }

  kicked(): void {
    void this.#deps.connection.close({ reason: 'kicked' });
  }

  async #freeSeat(): Promise<void> {
    await this.#ask('room:leave', {});
  }

  #adoptSeat(snapshot: RoomSnapshot, iceServers: readonly IceServer[]): JoinedRoom {
    if (this.#room?.ref !== snapshot.ref) this.end({ reason: 'left' });
    if (this.#userId === null || this.#deps.connection.ending !== null) throw clientError('CLOSED');
    // Joining the current room again returns the same object.
    if (this.#room !== null) {
      this.#room.adopt(snapshot);
      this.#room.setIce(iceServers);
      return this.#room;
    }
    const room = new JoinedRoom(snapshot, this.#userId, iceServers, this, this.#deps.runtime);
    this.#room = room;
    room.on('ended', () => {
      this.#room = null;
      this.#pacer.cancel(clientError('CLOSED'));
    });
    this.#deps.onEntered(room);
    // The join: a snapshot, and an event to every member.
    this.#pacer.charge(2 * tokensOf(snapshot.members));
    for (const push of this.#earlyPushes.splice(0)) this.receive(push);
    return room;
  }

  /**
   * After the loss of the seat: joins the same room (by its `ref`) again, if it still exists.
   *
   * @throws SignalboxError that is retryable
   */
  async #takeNewSeat(room: JoinedRoom, ask: Ask): Promise<void> {
    // A request for another room replaces this room when it succeeds.
    if (this.#isRejoining || this.#seatRequests > 0 || this.#userId === null) return;
    this.#isRejoining = true;
    try {
      const { code, ref, self } = room;
      const { name, mediaType, metadata } = self;
      // Undefined fields are not sent: JSON leaves them out.
      const profile = { name: name ?? undefined, mediaType, metadata } as Profile;
      const { room: snapshot, iceServers } = await ask('room:join', { code, ref, profile });
      room.restored(snapshot, this.#userId);
      room.setIce(iceServers);
    } catch (error) {
      if (!(error instanceof SignalboxError) || error.retryable) throw error;
      if (error.code === 'BANNED') void this.#deps.connection.close({ reason: 'banned' });
      const isOver = error.code === 'CODE_EXPIRED' || error.code === 'ROOM_NOT_FOUND';
      room.end(isOver ? { reason: 'expired' } : { reason: 'refused', error });
    } finally {
      this.#isRejoining = false;
    }
  }
}

/** What the server charges for an event to each of them. */
const tokensOf = ({ length }: readonly unknown[]): number => Math.ceil(length / 8);

/** The `ref` of the push's room; undefined for a push without a room. */
const refOf = ({ body }: AnyPush): unknown => (body as { ref?: unknown } | undefined)?.ref;

/** Undefined on an error: many networks need no TURN server, and the push `ice` delivers fresh ICE servers. */
const iceOver = (ask: Ask): Promise<IceServer[] | undefined> =>
  ask('ice', {}).then(
    ({ iceServers }) => iceServers,
    () => undefined,
  );
