/**
 * Rooms without a server, for meshes in one page: what is controlled here is the network between them. WebRTC itself is
 * the browser's own.
 */
import { Emitter } from '../../../src/client/emitter.ts';
import {
  type Room,
  type RoomEnding,
  type RoomEvents,
  SignalboxError,
  type Unsubscribe,
} from '../../../src/client/index.ts';
import type { IceServer, Json, Member, RoomSnapshot, UserId } from '../../../src/protocol/index.ts';
import { later } from './counters.ts';

/** One signal on its way. */
export interface SentSignal {
  readonly from: string;
  readonly to: string;
  /** As it is on the wire. */
  readonly data: Record<string, Json | undefined>;
  /** May be called any number of times, at any time. */
  readonly deliver: () => void;
}

/** Polls: it is a condition that ends the waiting, never a time. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, patienceMs = 30_000): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`never came about: ${what}`);
    await later(20);
  }
}

export class FakeRooms {
  readonly rooms = new Map<string, FakeRoom>();
  /** All signals ever sent, as they were. */
  readonly log: SentSignal[] = [];
  members: Member[] = [];
  iceServers: readonly IceServer[] = [];
  /** What becomes of a signal. By default it arrives. */
  network: (parcel: SentSignal) => void = ({ deliver }) => deliver();
  /** Refuses a signal before it is on its way. */
  refuse: (parcel: SentSignal) => SignalboxError | undefined = () => undefined;
  #seq = 0;

  /** Takes a seat. */
  join(name: string): FakeRoom {
    this.#seq += 1;
    const member: Member = {
      userId: name as UserId,
      name,
      role: 'member',
      state: 'present',
      seq: this.#seq,
      joinedAt: 0,
    };
    this.members = [...this.members, member];
    const room = new FakeRoom(this, member.userId);
    this.rooms.set(name, room);
    this.tell(room);
    return room;
  }

  leave(name: string): void {
    this.rooms.get(name)?.end({ reason: 'left' });
    this.rooms.delete(name);
    this.members = this.members.filter(({ userId }) => userId !== name);
    this.tell();
  }

  /** Their connection to the server is lost, or back. */
  set(name: string, state: Member['state']): void {
    this.members = this.members.map((member) => (member.userId === name ? { ...member, state } : member));
    this.tell();
  }

  /** The server was out of reach for a while. */
  blink(name: string): void {
    this.set(name, 'away');
    this.set(name, 'present');
    this.rooms.get(name)?.emit('resumed', undefined);
  }

  /** Another page on the same seat. What the old one still has on its way arrives from the same member. */
  reload(name: string): FakeRoom {
    this.set(name, 'away');
    const room = new FakeRoom(this, name as UserId);
    this.rooms.set(name, room);
    this.set(name, 'present');
    return room;
  }

  /** The seat was lost and another one was taken, by the same page. */
  rejoin(name: string): void {
    const seat = this.members.find(({ userId }) => userId === name);
    this.members = this.members.filter((member) => member !== seat);
    this.tell(this.rooms.get(name));
    this.#seq += 1;
    if (seat !== undefined) this.members = [...this.members, { ...seat, seq: this.#seq }];
    this.tell();
    this.rooms.get(name)?.emit('rejoined', undefined);
  }

  /** Everybody but `except` hears that the room has changed. */
  tell(except?: FakeRoom): void {
    for (const room of this.rooms.values()) if (room !== except) room.see(this.members);
  }

  signal(from: string, to: string, given: Json): Promise<void> {
    const target = this.rooms.get(to);
    const data = JSON.parse(JSON.stringify(given)) as SentSignal['data'];
    // To whoever sits there when it arrives.
    const deliver = (): void => this.rooms.get(to)?.emit('signal', { from: from as UserId, data: data as Json });
    const parcel: SentSignal = { from, to, data, deliver };
    const isAway = this.members.some(({ userId, state }) => userId === to && state === 'away');
    const error =
      target === undefined ? refusal('PEER_NOT_FOUND') : isAway ? refusal('PEER_AWAY') : this.refuse(parcel);
    if (error !== undefined) return Promise.reject(error);
    this.log.push(parcel);
    this.network(parcel);
    return Promise.resolve();
  }
}

export const refusal = (code: SignalboxError['code'], retryAfterMs?: number): SignalboxError =>
  new SignalboxError({
    code,
    message: code,
    retryable: code === 'PEER_AWAY' || code === 'RATE_LIMITED',
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });

export class FakeRoom implements Room {
  readonly code = '123456' as Room['code'];
  readonly ref = 'ROM202600000001' as Room['ref'];
  /** How many listen to it. */
  listeners = 0;
  ending: RoomEnding | null = null;
  members: readonly Member[];
  readonly #world: FakeRooms;
  readonly #own: UserId;
  readonly #events = new Emitter<RoomEvents>();

  constructor(world: FakeRooms, own: UserId) {
    this.#world = world;
    this.#own = own;
    this.members = world.members;
  }

  get self(): Member {
    const self = this.members.find(({ userId }) => userId === this.#own);
    if (self === undefined) throw new Error('no seat');
    return self;
  }

  get snapshot(): RoomSnapshot {
    return { members: [...this.members] } as unknown as RoomSnapshot;
  }

  get rev(): number {
    return 1;
  }

  get iceServers(): readonly IceServer[] {
    return this.#world.iceServers;
  }

  on<Name extends keyof RoomEvents>(name: Name, listener: (body: RoomEvents[Name]) => void): Unsubscribe {
    const stop = this.#events.on(name, listener);
    this.listeners += 1;
    let isStopped = false;
    return () => {
      stop();
      if (!isStopped) this.listeners -= 1;
      isStopped = true;
    };
  }

  emit<Name extends keyof RoomEvents>(name: Name, body: RoomEvents[Name]): void {
    if (this.ending === null) this.#events.emit(name, body);
  }

  see(members: readonly Member[]): void {
    const before = this.snapshot;
    this.members = members;
    this.emit('change', { room: this.snapshot, before });
  }

  end(ending: RoomEnding): void {
    this.ending = ending;
    this.#events.emit('ended', ending);
  }

  signal(to: string, data: Json): Promise<void> {
    return this.ending === null ? this.#world.signal(this.#own, to, data) : Promise.reject(refusal('CLOSED'));
  }

  message = unused;
  setProfile = unused;
  update = unused;
  kick = unused;
  close = unused;
  leave = unused;
}

const unused = (): Promise<void> => Promise.reject(new Error('a mesh has no business here'));
