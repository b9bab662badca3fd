/** Networks that lose, repeat, delay and mix up what is sent. */
import { connectionsMade, later } from './counters.ts';
import { FakeRooms, type SentSignal, until } from './fake-rooms.ts';
import { areConnected, close, connected, sideOf, still, twoSides, worksFully } from './two-sides.ts';

const typeOf = ({ data: { description } }: SentSignal): string | undefined =>
  (description as { type?: string } | undefined)?.type;

/** How many of a kind get lost before one arrives. @returns how many connections were made for the two of them. */
export async function lost(kind: 'offer' | 'answer' | 'candidate', count: number): Promise<number> {
  const before = connectionsMade();
  const world = new FakeRooms();
  let left = count;
  world.network = (parcel) => {
    const isMeant = kind === 'candidate' ? 'candidate' in parcel.data : typeOf(parcel) === kind;
    if (isMeant && left > 0) left -= 1;
    else parcel.deliver();
  };
  const { early, late } = twoSides(world);
  await worksFully(early, late);
  close(early, late);
  return connectionsMade() - before;
}

/** An answer and an offer that was made after it arrive in the wrong order. @returns how long it took. */
export async function overtakenAnswer(): Promise<number> {
  const start = performance.now();
  const { world, early, late } = twoSides();
  await connected(early, late);
  let held: SentSignal | undefined;
  world.network = (parcel) => {
    if (held === undefined && typeOf(parcel) === 'answer') held = parcel;
    else parcel.deliver();
  };
  const screen = still();
  early.mesh.share(screen);
  await until('an answer is under way', () => held !== undefined);
  late.mesh.share(screen);
  await until('the next offer is there', () => world.log.filter((parcel) => typeOf(parcel) === 'offer').length > 2);
  held?.deliver();
  await until('screens', () => early.peer.screen !== null && late.peer.screen !== null);
  close(early, late);
  return performance.now() - start;
}

/** The first answer is lost, and the one who gave it has something to offer by then. @returns how long it took. */
export async function unheardAnswer(): Promise<number> {
  const start = performance.now();
  const world = new FakeRooms();
  let isLost = false;
  world.network = (parcel) => {
    if (isLost || typeOf(parcel) !== 'answer') return parcel.deliver();
    isLost = true;
  };
  const { early, late } = twoSides(world);
  await until('an answer is lost', () => isLost);
  early.mesh.share(still());
  await connected(early, late);
  const ms = performance.now() - start;
  await worksFully(early, late);
  close(early, late);
  return ms;
}

/** Every signal comes up to three times or not at all, each time at another moment. */
export async function mess(couples: number, seed: number): Promise<string[]> {
  const random = chance(seed);
  const one = async (number: number): Promise<string[]> => {
    const world = new FakeRooms();
    world.network = ({ deliver }) => {
      if (random() < 0.05) return;
      for (let copies = random() * 3; copies > 0; copies -= 1) void later(random() * 150).then(deliver);
    };
    const { early, late } = twoSides(world, {}, number % 2 === 0 ? 'early' : 'late');
    try {
      await worksFully(early, late);
      return [];
    } catch (error) {
      return [`${seed}.${number}: ${String(error)}`];
    } finally {
      close(early, late);
    }
  };
  return (await Promise.all(Array.from({ length: couples }, (_, number) => one(number)))).flat();
}

/** mulberry32: chance that can be had again. */
export function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The first attempt is delivered only after the second one has come about. @returns connections made by then, and in the end. */
export async function latecomers(): Promise<number[]> {
  const begun = connectionsMade();
  const world = new FakeRooms();
  const held: SentSignal[] = [];
  const first = (): unknown => world.log.find(({ data }) => 'connection' in data)?.data['connection'];
  world.network = (parcel) => {
    if (parcel.data['connection'] === first()) held.push(parcel);
    else parcel.deliver();
  };
  const { early, late } = twoSides(world);
  await connected(early, late);
  const made = [connectionsMade() - begun];
  for (const { deliver } of [...held, ...held.toReversed()]) deliver();
  await worksFully(early, late);
  made.push(connectionsMade() - begun);
  close(early, late);
  return made;
}

/** An offer to one page is answered by the next, whose greeting is lost: its offers count from the beginning again. */
export async function answeredByNext(): Promise<void> {
  const { world, early, late } = twoSides();
  await connected(early, late);
  // The second connection is the first one that begins with all that is known of the other page.
  world.rejoin('late');
  await worksFully(early, late);
  early.mesh.close();
  world.network = (parcel) => {
    if (!('hello' in parcel.data)) parcel.deliver();
  };
  const next = sideOf('early', world.reload('early'));
  world.rejoin('late');
  await worksFully(next, late);
  close(next, late);
}

/** All signals of the time before a refresh come again after it. @returns connections made after the refresh, and in the end. */
export async function ghosts(who: 'early' | 'late'): Promise<number[]> {
  const { world, ...sides } = twoSides();
  await worksFully(sides.early, sides.late);
  const old = [...world.log];
  const [gone, other] = who === 'early' ? [sides.early, sides.late] : [sides.late, sides.early];
  gone.mesh.close();
  const before = connectionsMade();
  const back = sideOf(who, world.reload(who));
  await until('anew', () => areConnected(back, other) && back.peer.canSend && other.peer.canSend);
  const made = [connectionsMade() - before];
  for (const { deliver } of [...old, ...old.toReversed()]) deliver();
  await worksFully(back, other);
  made.push(connectionsMade() - before);
  close(back, other);
  return made;
}
