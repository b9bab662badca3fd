/**
 * A fake server with one room for meshes in one page: it controls the signals between them. WebRTC itself is the browser's
 * own.
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

/** One signal, sent and not delivered yet. */
export interface SentSignal {
  readonly from: string;
  readonly to: string;
  /** As it is on the wire. */
  readonly data: Record<string, Json | undefined>;
  /** May be called any number of times, at any time. */
  readonly deliver: () => void;
}

/** Polls until the condition holds. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, patienceMs = 30_000): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`timeout: ${what}`);
    await later(20);
  }
}

export class FakeServer {
  readonly rooms = new Map<string, FakeRoom>();
  /** All signals that were sent. */
  readonly log: SentSignal[] = [];
  members: Member[] = [];
  iceServers: readonly IceServer[] = [];
  /** Delivers a signal, or not. By default it arrives at once. */
  network: (signal: SentSignal) => void = ({ deliver }) => deliver();
  /** Refuses a signal before it is sent. */
  refuse: (signal: SentSignal) => SignalboxError | undefined = () => undefined;
  #seq = 0;

  /** A member joins. */
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

  /** A member's connection to the server is lost, or restored. */
  set(name: string, state: Member['state']): void {
    this.members = this.members.map((member) => (member.userId === name ? { ...member, state } : member));
    this.tell();
  }

  /** A member was away for a moment. */
  blink(name: string): void {
    this.set(name, 'away');
    this.set(name, 'present');
    this.rooms.get(name)?.emit('resumed', undefined);
  }

  /** Another page on the same seat. Signals that the old one has sent still arrive, from the same member. */
  reload(name: string): FakeRoom {
    this.set(name, 'away');
    const room = new FakeRoom(this, name as UserId);
    this.rooms.set(name, room);
    this.set(name, 'present');
    return room;
  }

  /** The page lost its seat and took another one. */
  rejoin(name: string): void {
    const seat = this.members.find(({ userId }) => userId === name);
    this.members = this.members.filter((member) => member !== seat);
    this.tell(this.rooms.get(name));
    this.#seq += 1;
    if (seat !== undefined) this.members = [...this.members, { ...seat, seq: this.#seq }];
    this.tell();
    this.rooms.get(name)?.emit('rejoined', undefined);
  }

  /** All rooms but `except` get the members. */
  tell(except?: FakeRoom): void {
    for (const room of this.rooms.values()) if (room !== except) room.see(this.members);
  }

  signal(from: string, to: string, given: Json): Promise<void> {
    const target = this.rooms.get(to);
    const data = JSON.parse(JSON.stringify(given)) as SentSignal['data'];
    // To the page that has the seat at that time.
    const deliver = (): void => this.rooms.get(to)?.emit('signal', { from: from as UserId, data: data as Json });
    const signal: SentSignal = { from, to, data, deliver };
    const isAway = this.members.some(({ userId, state }) => userId === to && state === 'away');
    const error =
      target === undefined ? refusal('PEER_NOT_FOUND') : isAway ? refusal('PEER_AWAY') : this.refuse(signal);
    if (error !== undefined) return Promise.reject(error);
    this.log.push(signal);
    this.network(signal);
    return Promise.resolve();
  }
}

const RETRYABLE = new Set<SignalboxError['code']>(['PEER_AWAY', 'RATE_LIMITED', 'STORE_UNAVAILABLE', 'TIMEOUT']);

export const refusal = (code: SignalboxError['code'], retryAfterMs?: number): SignalboxError =>
  new SignalboxError({
    code,
    message: code,
    retryable: RETRYABLE.has(code),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });

export class FakeRoom implements Room {
  readonly code = '123456' as Room['code'];
  readonly ref = 'ROM202600000001' as Room['ref'];
  /** Number of its listeners. */
  listeners = 0;
  ending: RoomEnding | null = null;
  members: readonly Member[];
  readonly #server: FakeServer;
  readonly #own: UserId;
  readonly #events = new Emitter<RoomEvents>();

  constructor(server: FakeServer, own: UserId) {
    this.#server = server;
    this.#own = own;
    this.members = server.members;
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
    return this.#server.iceServers;
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
    return this.ending === null ? this.#server.signal(this.#own, to, data) : Promise.reject(refusal('CLOSED'));
  }

  message = unused;
  setProfile = unused;
  update = unused;
  kick = unused;
  close = unused;
  leave = unused;
}

const unused = (): Promise<void> => Promise.reject(new Error('a mesh does not use this'));
