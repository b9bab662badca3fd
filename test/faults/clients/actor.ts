/** One client of the SDK that does at random what people do, and logs what it did and what it was told. */
import { type Client, connect, type ResumeStore, type Room, type SignalboxError } from '../../../src/client/index.ts';
import type { Numbered, Standing } from '../checker/run.ts';
import type { Seeded } from '../seeded.ts';
import type { Journal } from './journal.ts';

const TIMEOUT_MS = 5_000;
const BACKOFF = { baseMs: 100, maxMs: 2_000 };
/** A room is joined by others until it has so many. */
const CROWD = 5;

/** The codes of the rooms that the actors of a worker know of. */
export type Board = Map<string, Room>;

export interface Surroundings {
  readonly url: string;
  readonly journal: Journal;
  readonly board: Board;
  /** Ends the connections of a client. */
  readonly cut: (name: string) => void;
  /** Mean pause between two deeds. */
  readonly paceMs: number;
}

export class Actor {
  readonly #name: string;
  readonly #random: Seeded;
  readonly #around: Surroundings;
  #token: string | null = null;
  /** For the whole life of the process: a number is used once for each receiver. */
  readonly #numbers = new Map<string, number>();
  #client: Client | undefined;
  #calls = 0;
  #pages = 0;
  #isResting = false;
  #running: Promise<void> = Promise.resolve();

  constructor(name: string, random: Seeded, around: Surroundings) {
    this.#name = name;
    this.#random = random;
    this.#around = around;
  }

  start(): void {
    this.#connect();
    this.#running = this.#act();
  }

  /** Does nothing any more, and stays where it is. */
  async rest(): Promise<void> {
    this.#isResting = true;
    await this.#running;
  }

  stand(probe: number): void {
    const client = this.#client;
    const room = client?.room ?? null;
    const { state = 'closed', userId = null } = client ?? {};
    this.#write({ kind: 'stands', probe, state, userId, room: room && standing(room) });
  }

  async close(): Promise<void> {
    await this.rest();
    await this.#call('close', () => this.#client?.close());
  }

  async #act(): Promise<void> {
    while (!this.#isResting) {
      const pauseMs = this.#random.between(0.3, 1.7) * this.#around.paceMs;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      if (!this.#isResting) await this.#deed();
    }
  }

  async #deed(): Promise<void> {
    if (this.#client === undefined || this.#client.state === 'closed') return this.#connect();
    const { room } = this.#client;
    // A person who is told that the connection is being restored waits, mostly.
    if (this.#client.state !== 'online' && this.#random.fraction() < 0.8) return;
    if (room === null || room.ending !== null) await this.#enter(this.#client);
    else await this.#inRoom(this.#client, room);
  }

  async #enter(client: Client): Promise<void> {
    const open = [...this.#around.board].filter(([, { ending, members }]) => ending === null && members.length < CROWD);
    const [code] = this.#random.pick(open) ?? [];
    if (code === undefined || this.#random.fraction() < 0.2)
      await this.#call('create', () => client.create({ maxUsers: 8 }));
    else await this.#call('join', () => client.join(code));
  }

  async #inRoom(client: Client, room: Room): Promise<void> {
    const chance = this.#random.fraction();
    if (chance < 0.8) await this.#signal(room);
    else if (chance < 0.87) {
      await this.#call('profile', () =>
        room.setProfile({ metadata: { at: Math.floor(this.#random.between(0, 1e6)) } }),
      );
    } else if (chance < 0.9) await this.#call('message', () => room.message({ by: this.#name }));
    else if (chance < 0.94) await this.#call('leave', () => room.leave());
    else if (chance < 0.96) await this.#enter(client);
    else if (chance < 0.97 && room.snapshot.hostId === client.userId)
      await this.#call('close-room', () => room.close());
    else if (chance < 0.98) this.#refresh();
    else if (chance < 0.985) void this.#call('cut', () => this.#around.cut(this.#name));
  }

  async #signal(room: Room): Promise<void> {
    const others = room.members.filter(({ userId, state }) => userId !== room.self.userId && state === 'present');
    const to = this.#random.pick(others)?.userId;
    if (to === undefined) return;
    const n = (this.#numbers.get(to) ?? 0) + 1;
    this.#numbers.set(to, n);
    const signal: Numbered = { n, to, ref: room.ref };
    await this.#call('signal', () => room.signal(to, { ...signal }), signal);
  }

  /** The page is gone without a word, and the next one of the same tab takes the seat over. */
  #refresh(): void {
    void this.#call('refresh', () => this.#around.cut(this.#name));
    const old = this.#client;
    this.#connect();
    // Without a connection it says nothing more.
    void old?.close();
  }

  #connect(): void {
    const { url, board } = this.#around;
    const client = connect(url, { name: this.#name, store: this.#store(), timeoutMs: TIMEOUT_MS, backoff: BACKOFF });
    this.#client = client;
    client.on('room', (room) => {
      board.set(room.code, room);
      this.#listen(client, room);
    });
  }

  #listen(client: Client, room: Room): void {
    room.on('signal', ({ from, data }) => {
      // Cast: only actors send signals here.
      this.#write({
        kind: 'heard',
        userId: client.userId,
        from,
        signal: data as unknown as Numbered,
        inRoom: room.ref,
      });
    });
    room.on('change', ({ room: { ref, rev }, before }) =>
      this.#write({ kind: 'stepped', ref, rev, before: before.rev }),
    );
    room.on('ended', ({ reason }) => {
      if (this.#around.board.get(room.code) === room) this.#around.board.delete(room.code);
      this.#write({ kind: 'ended', ref: room.ref, reason });
    });
  }

  /** Only the present page writes the token: an old one that is replaced would take it away. */
  #store(): ResumeStore {
    this.#pages += 1;
    const page = this.#pages;
    return {
      get: () => this.#token,
      set: (token) => {
        if (page === this.#pages) this.#token = token;
      },
    };
  }

  async #call(name: string, act: () => unknown, signal: Numbered | null = null): Promise<void> {
    this.#calls += 1;
    const call = this.#calls;
    this.#write({ kind: 'called', call, name, userId: this.#client?.userId ?? null, signal });
    try {
      const result = await act();
      const room = name === 'create' || name === 'join' ? standing(result as Room) : null; // what both resolve with
      this.#write({ kind: 'settled', call, name, error: null, room });
    } catch (error) {
      const { code = String(error) } = error as Partial<SignalboxError>;
      this.#write({ kind: 'settled', call, name, error: code, room: null });
    }
  }

  #write(entry: Parameters<Journal['write']>[1]): void {
    this.#around.journal.write(this.#name, entry);
  }
}

const standing = ({ code, ref, rev, members }: Room): Standing => ({
  code,
  ref,
  rev,
  members: members.map(({ userId }) => userId).toSorted(),
});
