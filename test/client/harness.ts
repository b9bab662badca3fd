/** Clients of the SDK for tests, and functions that wait for their events and states. */
import {
  type Client,
  type ClientEvents,
  type ConnectionState,
  type ConnectOptions,
  connect,
  type ResumeStore,
  type Room,
  type RoomEvents,
} from '../../src/client/index.ts';

/** Far longer than anything takes that a test waits for. */
const PATIENCE_MS = 30_000;

/** Closes every client that it has connected. */
export class Clients implements AsyncDisposable {
  readonly #clients: Client[] = [];

  connect(url: string, options: ConnectOptions = {}): Client {
    const client = connect(url, { backoff: FAST_BACKOFF, ...options });
    this.#clients.push(client);
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
  }
}

/** For tests that wait for a second attempt. */
export const FAST_BACKOFF = { baseMs: 20, maxMs: 200 };

/** A resume store in memory. */
export class MemoryStore implements ResumeStore {
  text: string | null;

  constructor(text: string | null = null) {
    this.text = text;
  }

  get(): string | null {
    return this.text;
  }

  set(text: string | null): void {
    this.text = text;
  }
}

export interface TwoMembers {
  readonly ann: Client;
  readonly ben: Client;
  /** The room object of Ann, the host. */
  readonly room: Room;
  /** Ben's object of the same room. */
  readonly bens: Room;
}

/** Ann has created a room, Ben has joined it, and both rooms show both members. */
export async function twoMembers(
  clients: Clients,
  urls: readonly [ann: string, ben: string],
  options: { readonly ann?: ConnectOptions; readonly ben?: ConnectOptions } = {},
): Promise<TwoMembers> {
  const ann = clients.connect(urls[0], { name: 'Ann', ...options.ann });
  const ben = clients.connect(urls[1], { name: 'Ben', ...options.ben });
  const room = await ann.create();
  const bens = await ben.join(room.code);
  await until(room, ({ members }) => members.length === 2);
  return { ann, ben, room, bens };
}

/** A source of events. */
interface Source<Events> {
  on<Name extends keyof Events>(name: Name, listener: (body: Events[Name]) => void): () => void;
}
type EventsOf<Subject> = Subject extends Client ? ClientEvents : RoomEvents;

/** The next event of that name. To be called before the cause of the event. */
export function next<Subject extends Client | Room, Name extends keyof EventsOf<Subject>>(
  subject: Subject,
  name: Name,
  fits: (body: EventsOf<Subject>[Name]) => boolean = () => true,
): Promise<EventsOf<Subject>[Name]> {
  // Clients and rooms have different events; the compiler does not choose between the two.
  const source = subject as unknown as Source<EventsOf<Subject>>;
  return within(
    () => `the event ${String(name)}`,
    (resolve) => source.on(name, (body) => fits(body) && resolve(body)),
  );
}

/** Resolves when the condition holds, now or after a change of the room. */
export function until(room: Room, isSo: (room: Room) => boolean): Promise<void> {
  return within(
    () => `such a room; it is ${JSON.stringify(room.snapshot)}`,
    (resolve) => {
      const look = () => isSo(room) && resolve();
      look();
      return room.on('change', look);
    },
  );
}

/** Resolves when both rooms have reached the greater of their present revisions. @throws if they differ then */
export async function agree(one: Room, other: Room): Promise<void> {
  const rev = Math.max(one.rev, other.rev);
  await Promise.all([one, other].map((room) => until(room, (it) => it.rev >= rev)));
  if (JSON.stringify(one.snapshot) !== JSON.stringify(other.snapshot)) throw new Error('they do not agree');
}

/** Resolves when the client is in that state, now or later. */
export function reaches(client: Client, state: ConnectionState): Promise<void> {
  return within(
    () => `the state ${state}`,
    (resolve) => {
      if (client.state === state) resolve();
      return client.on('state', (now) => now === state && resolve());
    },
  );
}

function within<Value>(
  what: () => string,
  begin: (resolve: (value: Value) => void) => () => void,
  patienceMs = PATIENCE_MS,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let end = () => {};
    const timer = setTimeout(() => {
      end();
      reject(new Error(`${what()} did not come in ${patienceMs} ms`));
    }, patienceMs);
    end = begin((value) => {
      clearTimeout(timer);
      // `end` is assigned only after this call has returned.
      queueMicrotask(() => end());
      resolve(value);
    });
  });
}

/** All events of a room as texts, in order: `member:joined Ben`. */
export function eventsOf(room: Room): string[] {
  const told: string[] = [];
  const tell = (words: string) => void told.push(words);
  for (const name of ['member:joined', 'member:left', 'member:away', 'member:back', 'member:updated'] as const) {
    room.on(name, ({ member }) => tell(`${name} ${member.name ?? member.userId}`));
  }
  room.on('host:changed', () => tell('host:changed'));
  room.on('room:updated', () => tell('room:updated'));
  room.on('message', ({ data }) => tell(`message ${JSON.stringify(data)}`));
  room.on('signal', ({ data }) => tell(`signal ${JSON.stringify(data)}`));
  room.on('resumed', () => tell('resumed'));
  room.on('rejoined', () => tell('rejoined'));
  room.on('ended', ({ reason }) => tell(`ended ${reason}`));
  return told;
}

let hushes = 0;

/** Barrier: when it resolves, every event that was sent to the listener before this call has arrived. */
export async function barrier(listener: Room, speaker: Room = listener): Promise<void> {
  hushes += 1;
  const mark = `hush ${hushes}`;
  const heard = next(listener, 'message', ({ data }) => data === mark);
  await speaker.message(mark);
  await heard;
}
