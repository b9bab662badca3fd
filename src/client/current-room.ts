/**
 * The room that the client is in: how it gets in, is restored after a lost connection, and gets out. The server may have
 * the user in another room than the client, or in none; every difference is repaired from here.
 */
import type { IceServer, Profile, Push, RequestInput, RequestName, RoomSnapshot, UserId } from '../protocol/index.ts';
import { MAX_HELD } from './change-buffer.ts';
import type { Ask, Connection } from './connection.ts';
import { clientError, SignalboxError } from './errors.ts';
import type { RevisionSource } from './heartbeat.ts';
import { JoinedRoom, type RoomOwner } from './joined-room.ts';
import type { Requests } from './requests.ts';
import type { Room, RoomEnding } from './room.ts';
import type { Runtime } from './runtime.ts';
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
  /** The client is in another room. */
  readonly entered: (room: Room) => void;
}

export class CurrentRoom implements RoomOwner, RevisionSource {
  readonly #deps: CurrentRoomDeps;
  readonly #ask: Ask;
  #room: JoinedRoom | null = null;
  #userId: UserId | null = null;
  /** Requests for a seat under way: pushes of an unknown room may be of the room that the reply brings. */
  #entering = 0;
  /** Callers that wait until there is none. */
  readonly #entered: Waiters;
  #earlyPushes: AnyPush[] = [];
  #isRejoining = false;

  constructor(deps: CurrentRoomDeps) {
    this.#deps = deps;
    this.#ask = (name, payload) => deps.requests.send(name, payload, { mayRepeat: true });
    this.#entered = new Waiters(deps.runtime.clock);
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

  /** Takes a seat. @param ask the request for it */
  async enter(ask: (ask: Ask) => Promise<JoinReply>): Promise<Room> {
    this.#entering += 1;
    let entered: JoinedRoom | null = null;
    try {
      const { room, iceServers } = await ask(this.#ask);
      entered = this.#sitDown(room, iceServers);
      return entered;
    } catch (error) {
      throw error instanceof SignalboxError ? error : clientError('INTERNAL');
    } finally {
      this.#entering -= 1;
      if (this.#entering === 0) {
        this.#earlyPushes = [];
        this.#entered.release();
      }
      // A refusal, or a lost reply: then the server may have us in that room all the same.
      if (entered === null) this.compare(Number.POSITIVE_INFINITY);
    }
  }

  /** After a welcome: takes up the seat that we had, or the one from before the page was loaded. */
  async restore({ userId, room }: Push<'welcome'>, ask: Ask): Promise<void> {
    const isFirst = this.#userId === null;
    this.#userId = userId;
    const current = this.#room;
    if (current !== null) {
      if (room?.ref !== current.ref) return await this.#takeNewSeat(current, ask);
      current.returned(room, userId);
      void iceOver(ask).then((iceServers) => iceServers && current.setIce(iceServers));
    } else if (room !== null && isFirst) {
      await this.enter(async () => ({ room, iceServers: (await iceOver(ask)) ?? [] }));
    } else if (room !== null && this.#entering === 0) await ask('room:leave', {});
  }

  push(push: AnyPush): void {
    if (push.name === 'ice') this.#room?.setIce(push.body.iceServers);
    else if (this.#room !== null && refOf(push) === this.#room.ref) this.#room.take(push);
    else if (this.#entering > 0 && this.#earlyPushes.push(push) > MAX_HELD) this.#earlyPushes.shift();
  }

  compare(rev: number | null): void {
    // The reply to the request under way says where we are.
    if (this.#entering > 0) return;
    if (this.#room !== null) this.#room.compare(rev);
    else if (rev !== null) this.#freeSeat().catch(() => {});
  }

  end(ending: RoomEnding): void {
    this.#room?.end(ending);
  }

  async askIn<Name extends RequestName>(
    room: JoinedRoom,
    name: Name,
    payload: RequestInput<Name>,
    mayRepeat: boolean,
  ): Promise<void> {
    const { requests, runtime } = this.#deps;
    const until = requests.deadline();
    // Sent after a request for another room, it would reach that room.
    while (this.#entering > 0) {
      if (runtime.clock.monotonic() >= until) throw clientError('TIMEOUT');
      await this.#entered.wait(until);
    }
    // A request to a room that has ended must not reach the next room, however long it has waited to be sent.
    await requests.send(name, payload, { mayRepeat, isDue: () => room.ending === null, until });
  }

  async read(): Promise<RoomSnapshot> {
    return (await this.#ask('room:get', {})).room;
  }

  rejoin(room: JoinedRoom): void {
    this.#takeNewSeat(room, this.#ask).catch((error) => this.#deps.connection.restart(error));
  }

  async leave(room: JoinedRoom): Promise<void> {
    if (room !== this.#room) return;
    room.end({ reason: 'left' });
    // A page that is reloaded before the server knows must not get the seat back.
    if (this.#deps.connection.state !== 'online') this.#deps.tokens.forgetStored();
    // With a request for another room under way, the server frees this seat; if it does not, `enter` does.
    if (this.#entering === 0) await this.#freeSeat();
  }

  kicked(): void {
    void this.#deps.connection.close({ reason: 'kicked' });
  }

  async #freeSeat(): Promise<void> {
    await this.#ask('room:leave', {});
  }

  #sitDown(snapshot: RoomSnapshot, iceServers: readonly IceServer[]): JoinedRoom {
    if (this.#room?.ref !== snapshot.ref) this.end({ reason: 'left' });
    if (this.#userId === null || this.#deps.connection.ending !== null) throw clientError('CLOSED');
    // A second request for the room that we are in: the same object.
    if (this.#room !== null) {
      this.#room.adopt(snapshot);
      this.#room.setIce(iceServers);
      return this.#room;
    }
    const room = new JoinedRoom(snapshot, this.#userId, iceServers, this, this.#deps.runtime);
    this.#room = room;
    room.on('ended', () => {
      this.#room = null;
    });
    this.#deps.entered(room);
    for (const push of this.#earlyPushes.splice(0)) this.push(push);
    return room;
  }

  /**
   * The seat is lost, the room perhaps not: takes another seat in the same room (by its `ref`).
   *
   * @throws SignalboxError that is worth another try
   */
  async #takeNewSeat(room: JoinedRoom, ask: Ask): Promise<void> {
    // With a request for another room under way, this one is left as soon as that succeeds.
    if (this.#isRejoining || this.#entering > 0 || this.#userId === null) return;
    this.#isRejoining = true;
    try {
      const { code, ref, self } = room;
      const { name, mediaType, metadata } = self;
      // Undefined fields are not sent: JSON leaves them out.
      const profile = { name: name ?? undefined, mediaType, metadata } as Profile;
      const { room: snapshot, iceServers } = await ask('room:join', { code, ref, profile });
      room.returned(snapshot, this.#userId);
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

/** The room that a push belongs to, if it belongs to one. */
const refOf = ({ body }: AnyPush): unknown => (body as { ref?: unknown } | undefined)?.ref;

/** Undefined if the server refuses: many networks need no TURN server, and the push `ice` brings fresh ones. */
const iceOver = (ask: Ask): Promise<IceServer[] | undefined> =>
  ask('ice', {}).then(
    ({ iceServers }) => iceServers,
    () => undefined,
  );
