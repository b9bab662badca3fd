/** `connect`: the connection, the room on it, and what becomes of the one when the other changes. */
import { DEFAULT_CODE_DIGITS, normaliseTypedCode } from '../protocol/ids.ts';
import type { IceServer, Profile, Push, RoomSnapshot, UserId } from '../protocol/index.ts';
import { PROTOCOL_VERSION } from '../protocol/limits.ts';
import { DEFAULT_BACKOFF } from './backoff.ts';
import { clampMs } from './clamp-ms.ts';
import type { Client, ClientEvents, ConnectOptions, CreateOptions, JoinOptions } from './client.ts';
import { type Ask, Connection } from './connection.ts';
import { Emitter } from './emitter.ts';
import { clientError, SignalboxError } from './errors.ts';
import { JoinedRoom, MAX_HELD, type SeatSetup } from './joined-room.ts';
import type { Room } from './room.ts';
import type { AnyPush } from './single-use-socket.ts';
import { openTokenStore, type TokenStore } from './token-store.ts';
import { uniqueId } from './unique-id.ts';
import { Waiters } from './waiters.ts';

const TIMEOUT_MS = 10_000;

/**
 * Connects to a Signalbox server, and begins at once.
 *
 * @param url such as `https://signal.example.org`; in a page that the server itself serves, `location.origin`
 */
export function connect(url: string, options: ConnectOptions = {}): Client {
  return new RoomClient(url, options);
}

class RoomClient extends Emitter<ClientEvents> implements Client {
  readonly #options: ConnectOptions;
  readonly #keep: TokenStore;
  readonly #connection: Connection;
  readonly #seatSetup: SeatSetup;
  #userId: UserId | null = null;
  #codeDigits = DEFAULT_CODE_DIGITS;
  #seat: JoinedRoom | null = null;
  /** Requests for a seat under way: what is heard of a room that is not ours may be of the one that becomes ours. */
  #entering = 0;
  /** Who waits until none of them is. */
  readonly #entered = new Waiters();
  #early: AnyPush[] = [];
  #isRejoining = false;

  constructor(url: string, options: ConnectOptions) {
    super();
    this.#options = options;
    // What follows the host would be taken for a namespace.
    const { origin } = new URL(url);
    this.#keep = openTokenStore(options.store, origin);
    const ask: Ask = (name, payload) => this.#connection.request(name, payload, true);
    this.#seatSetup = {
      ask: async (name, payload, repeat, isDue) => {
        const until = this.#connection.until();
        // Sent after a request for another room, it would be taken for one of that room.
        while (this.#entering > 0) {
          if (performance.now() >= until) throw clientError('TIMEOUT');
          await this.#entered.wait(until);
        }
        return await this.#connection.request(name, payload, repeat, isDue, until);
      },
      read: async () => (await ask('room:get', {})).room,
      rejoin: (seat) => void this.#rejoin(seat, ask).catch((error) => this.#connection.restart(error)),
      leave: (seat) => this.#leave(seat),
      kicked: () => void this.#connection.close({ reason: 'kicked' }),
    };
    this.#connection = new Connection({
      url: origin,
      path: options.path ?? '/socket.io',
      timeoutMs: clampMs(options.timeoutMs, TIMEOUT_MS),
      backoff: options.backoff ?? DEFAULT_BACKOFF,
      auth: () => this.#auth(),
      forget: () => this.#forget(),
      restore: (welcome, over) => this.#restore(welcome, over),
      push: (push) => this.#hear(push),
      rev: () => this.#seat?.rev,
      beaten: (rev) => this.#compare(rev),
      gone: () => this.#gone(),
      changed: () => this.#changed(),
      failed: (retryInMs, error) => this.emit('retry', { retryInMs, error }),
    });
    this.#connection.open();
  }

  get state() {
    return this.#connection.state;
  }

  get ending() {
    return this.#connection.ending;
  }

  get userId() {
    return this.#userId;
  }

  get codeDigits() {
    return this.#codeDigits;
  }

  get room(): Room | null {
    return this.#seat;
  }

  async ready(): Promise<Room | null> {
    await this.#connection.online();
    return this.#seat;
  }

  create(options: CreateOptions = {}): Promise<Room> {
    // Whether the answer to the first was lost or the room was not made: asked again, it is one room.
    const idempotencyKey = uniqueId();
    return this.#enter(() => this.#connection.request('room:create', { ...options, idempotencyKey }, true));
  }

  async join(typed: string, options: JoinOptions = {}): Promise<Room> {
    const code = normaliseTypedCode(String(typed), this.#codeDigits);
    if (code === undefined) {
      throw clientError('BAD_REQUEST', `A room code has ${this.#codeDigits} digits and does not begin with 0.`);
    }
    return await this.#enter(() => this.#connection.request('room:join', { ...options, code }, true));
  }

  close(): Promise<void> {
    return this.#connection.close({ reason: 'closed' });
  }

  /** As JSON: what is undefined is not sent. */
  #auth(): Record<string, unknown> {
    const { name, token } = this.#options;
    return { v: PROTOCOL_VERSION, name, token, resume: this.#keep.token ?? undefined };
  }

  #forget(): boolean {
    const had = this.#keep.token !== null;
    this.#keep.token = null;
    return had;
  }

  #hear(push: AnyPush): void {
    if (push.name === 'ice') this.#seat?.setIce(push.body.iceServers);
    else if (this.#seat !== null && refOf(push) === this.#seat.ref) this.#seat.take(push);
    else if (this.#entering > 0 && this.#early.push(push) > MAX_HELD) this.#early.shift();
  }

  async #enter(ask: () => Promise<Placed>): Promise<Room> {
    this.#entering += 1;
    let seat: JoinedRoom | null = null;
    try {
      const { room, iceServers } = await ask();
      seat = this.#sit(room, iceServers);
      return seat;
    } catch (error) {
      throw error instanceof SignalboxError ? error : clientError('INTERNAL');
    } finally {
      this.#entering -= 1;
      if (this.#entering === 0) {
        this.#early = [];
        this.#entered.release();
      }
      // Refused, or only not heard of: the server may have us there all the same.
      if (seat === null) this.#compare(Number.POSITIVE_INFINITY);
    }
  }

  /** @param rev of the room in which the server has us; null: in none. Where it has us need not be where we are. */
  #compare(rev: number | null): void {
    // Whatever is being asked for decides it.
    if (this.#entering > 0) return;
    if (this.#seat !== null) this.#seat.compare(rev);
    else if (rev !== null) this.#vacate().catch(() => {});
  }

  async #vacate(): Promise<void> {
    await this.#connection.request('room:leave', {}, true);
  }

  #sit(room: RoomSnapshot, iceServers: readonly IceServer[]): JoinedRoom {
    if (this.#seat?.ref !== room.ref) this.#end({ reason: 'left' });
    if (this.#userId === null || this.ending !== null) throw clientError('CLOSED');
    // Asked for anew, the same seat: its owner has it already.
    if (this.#seat !== null) {
      this.#seat.adopt(room);
      this.#seat.setIce(iceServers);
      return this.#seat;
    }
    const seat = new JoinedRoom(room, this.#userId, iceServers, this.#seatSetup);
    this.#seat = seat;
    // However it ends: here, by the server's word, by what it reads.
    seat.on('ended', () => {
      this.#seat = null;
    });
    this.emit('room', seat);
    for (const push of this.#early.splice(0)) this.#hear(push);
    return seat;
  }

  async #leave(seat: JoinedRoom): Promise<void> {
    if (seat !== this.#seat) return;
    this.#end({ reason: 'left' });
    // A page that is loaded anew before the server knows must not be seated again.
    if (this.state !== 'online') this.#keep.forgetStored();
    // Asked for another room, the server frees this seat with that; if it does not, `#enter` sees to it.
    if (this.#entering === 0) await this.#vacate();
  }

  /** Welcomed, for the first time or again: takes up the seat that was ours, or is from before the page was loaded. */
  async #restore({ userId, resume, limits, room }: Push<'welcome'>, ask: Ask): Promise<void> {
    const isFirst = this.#userId === null;
    this.#userId = userId;
    this.#codeDigits = limits.codeDigits;
    this.#keep.token = resume;
    const seat = this.#seat;
    if (seat !== null) {
      if (room?.ref !== seat.ref) return await this.#rejoin(seat, ask);
      seat.returned(room, userId);
      void iceOver(ask).then((iceServers) => iceServers && seat.setIce(iceServers));
    } else if (room !== null && isFirst) {
      await this.#enter(async () => ({ room, iceServers: (await iceOver(ask)) ?? [] }));
    } else if (room !== null && this.#entering === 0) await ask('room:leave', {});
  }

  /**
   * The seat is gone, the room perhaps not: takes another seat in that very room.
   *
   * @throws SignalboxError worth another try
   */
  async #rejoin(seat: JoinedRoom, ask: Ask): Promise<void> {
    // Another room has been asked for: if it takes us, this one is left.
    if (this.#isRejoining || this.#entering > 0 || this.#userId === null) return;
    this.#isRejoining = true;
    try {
      const { code, ref, self } = seat;
      const { name, mediaType, metadata } = self;
      // As JSON: what is undefined is not sent.
      const profile = { name: name ?? undefined, mediaType, metadata } as Profile;
      const { room, iceServers } = await ask('room:join', { code, ref, profile });
      seat.returned(room, this.#userId);
      seat.setIce(iceServers);
    } catch (error) {
      if (!(error instanceof SignalboxError) || error.retryable) throw error;
      if (error.code === 'BANNED') void this.#connection.close({ reason: 'banned' });
      const isOver = error.code === 'CODE_EXPIRED' || error.code === 'ROOM_NOT_FOUND';
      seat.end(isOver ? { reason: 'expired' } : { reason: 'refused', error });
    } finally {
      this.#isRejoining = false;
    }
  }

  /** @returns whether the page going away means the end: nothing is kept that could bring the seat back. */
  #gone(): boolean {
    if (this.#keep.isKept) return false;
    void this.close();
    return true;
  }

  #changed(): void {
    const { state, ending } = this;
    if (ending !== null) {
      // With the token, a reload of this page would take the seat back from whoever took it over. But whoever closes
      // before it was used has not been on that seat, and may only be clearing the way for the next one.
      this.#keep.close(this.#userId !== null);
      this.#end(ending.reason === 'closed' ? { reason: 'left' } : ending);
    }
    this.emit('state', state);
  }

  #end(ending: Parameters<JoinedRoom['end']>[0]): void {
    this.#seat?.end(ending);
  }
}

/** What takes a seat is answered with. */
interface Placed {
  readonly room: RoomSnapshot;
  readonly iceServers: IceServer[];
}

/** The room that a push is of, if it is of one. */
const refOf = ({ body }: AnyPush): unknown => (body as { ref?: unknown } | undefined)?.ref;

/** Without them a call works in many networks, and the server pushes fresh ones: no reason not to go on. */
const iceOver = (ask: Ask): Promise<IceServer[] | undefined> =>
  ask('ice', {}).then(
    ({ iceServers }) => iceServers,
    () => undefined,
  );
