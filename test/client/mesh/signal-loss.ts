/** Networks that lose, repeat, delay and reorder signals. */
import { connectionsMade, later } from './counters.ts';
import { FakeServer, refusal, type SentSignal, until } from './fake-server.ts';
import { areConnected, close, connected, sideOf, still, twoSides, worksFully } from './two-sides.ts';

const typeOf = ({ data: { description } }: SentSignal): string | undefined =>
  (description as { type?: string } | undefined)?.type;

/** Loses `count` signals of a kind. @returns how many connections were made by both sides */
export async function lostSignals(kind: 'offer' | 'answer' | 'candidate', count: number): Promise<number> {
  const before = connectionsMade();
  const server = new FakeServer();
  let left = count;
  server.network = (signal) => {
    const isMeant = kind === 'candidate' ? 'candidate' in signal.data : typeOf(signal) === kind;
    if (isMeant && left > 0) left -= 1;
    else signal.deliver();
  };
  const { early, late } = twoSides(server);
  await worksFully(early, late);
  close(early, late);
  return connectionsMade() - before;
}

/**
 * The first signals of a kind are refused because their receiver is being resumed, or their acknowledgement is lost with
 * the connection of their sender. The one that resumes knows; the other one has not been told that anybody was away.
 *
 * @param code PEER_AWAY: the receiver resumes. TIMEOUT: the sender does, and every second signal was delivered
 * @returns milliseconds until all was agreed
 */
export async function lostAtResume(
  kind: 'offer' | 'answer' | 'candidate',
  code: 'PEER_AWAY' | 'STORE_UNAVAILABLE' | 'TIMEOUT',
): Promise<number> {
  const start = performance.now();
  const server = new FakeServer();
  let refused = 0;
  server.refuse = (signal) => {
    const isMeant = kind === 'candidate' ? 'candidate' in signal.data : typeOf(signal) === kind;
    if (!isMeant || refused >= 2) return undefined;
    refused += 1;
    if (code === 'TIMEOUT' && refused === 2) signal.deliver();
    const resumed = code === 'PEER_AWAY' ? signal.to : signal.from;
    if (code !== 'STORE_UNAVAILABLE') void later(50).then(() => server.rooms.get(resumed)?.emit('resumed', undefined));
    return refusal(code, 50);
  };
  const { early, late } = twoSides(server);
  await worksFully(early, late);
  if (refused === 0) throw new Error(`no ${kind} was refused`);
  close(early, late);
  return performance.now() - start;
}

/** An answer and a later offer arrive in the wrong order. @returns milliseconds until all was agreed */
export async function overtakenAnswer(): Promise<number> {
  const start = performance.now();
  const { server, early, late } = twoSides();
  await connected(early, late);
  let held: SentSignal | undefined;
  server.network = (signal) => {
    if (held === undefined && typeOf(signal) === 'answer') held = signal;
    else signal.deliver();
  };
  const screen = still();
  early.mesh.share(screen);
  await until('an answer is under way', () => held !== undefined);
  late.mesh.share(screen);
  await until('the next offer is there', () => server.log.filter((signal) => typeOf(signal) === 'offer').length > 2);
  held?.deliver();
  await until('screens', () => early.peer.screen !== null && late.peer.screen !== null);
  close(early, late);
  return performance.now() - start;
}

/** The first answer is lost, and the side that sent it makes an offer then. @returns milliseconds until all was agreed */
export async function lostAnswer(): Promise<number> {
  const start = performance.now();
  const server = new FakeServer();
  let isLost = false;
  server.network = (signal) => {
    if (isLost || typeOf(signal) !== 'answer') return signal.deliver();
    isLost = true;
  };
  const { early, late } = twoSides(server);
  await until('an answer is lost', () => isLost);
  early.mesh.share(still());
  await connected(early, late);
  const ms = performance.now() - start;
  await worksFully(early, late);
  close(early, late);
  return ms;
}

/** Every signal arrives up to three times or never, each time after another delay. */
export async function lossyNetwork(couples: number, seed: number): Promise<string[]> {
  const random = seededRandom(seed);
  const one = async (number: number): Promise<string[]> => {
    const server = new FakeServer();
    server.network = ({ deliver }) => {
      if (random() < 0.05) return;
      for (let copies = random() * 3; copies > 0; copies -= 1) void later(random() * 150).then(deliver);
    };
    const { early, late } = twoSides(server, {}, number % 2 === 0 ? 'early' : 'late');
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

/** mulberry32: random numbers that a seed repeats. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The signals of the first attempt arrive after the second has connected. @returns connections made by then, and at the end */
export async function lateFirstAttempt(): Promise<number[]> {
  const begun = connectionsMade();
  const server = new FakeServer();
  const held: SentSignal[] = [];
  const first = (): unknown => server.log.find(({ data }) => 'connection' in data)?.data['connection'];
  server.network = (signal) => {
    if (signal.data['connection'] === first()) held.push(signal);
    else signal.deliver();
  };
  const { early, late } = twoSides(server);
  await connected(early, late);
  const made = [connectionsMade() - begun];
  for (const { deliver } of [...held, ...held.toReversed()]) deliver();
  await worksFully(early, late);
  made.push(connectionsMade() - begun);
  close(early, late);
  return made;
}

/** An offer to one page is answered by the next page, whose `hello` is lost: its offers count from 1 again. */
export async function answerOfNextPage(): Promise<void> {
  const { server, early, late } = twoSides();
  await connected(early, late);
  // The second connection begins with the known state of the other page.
  server.rejoin('late');
  await worksFully(early, late);
  early.mesh.close();
  server.network = (signal) => {
    if (!('hello' in signal.data)) signal.deliver();
  };
  const next = sideOf('early', server.reload('early'));
  server.rejoin('late');
  await worksFully(next, late);
  close(next, late);
}

/** All signals of a page arrive again after its refresh. @returns connections made after the refresh, and at the end */
export async function signalsOfFormerPage(who: 'early' | 'late'): Promise<number[]> {
  const { server, ...sides } = twoSides();
  await worksFully(sides.early, sides.late);
  const old = [...server.log];
  const [gone, other] = who === 'early' ? [sides.early, sides.late] : [sides.late, sides.early];
  gone.mesh.close();
  const before = connectionsMade();
  const back = sideOf(who, server.reload(who));
  await until('anew', () => areConnected(back, other) && back.peer.canSend && other.peer.canSend);
  const made = [connectionsMade() - before];
  for (const { deliver } of [...old, ...old.toReversed()]) deliver();
  await worksFully(back, other);
  made.push(connectionsMade() - before);
  close(back, other);
  return made;
}
