/**
 * `npm run bench:attacks [-- WORD]`: what two honest members notice while somebody attacks their node, for each attack
 * whose name has the word in it. One fresh node with the default limits, on a Redis of its own, for each attack.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { startRedis } from '../../test/support/redis.ts';
import { connectPeers, disconnect, type Peer, seat } from '../clients.ts';
import { median } from '../figures.ts';
import { type Side, startSide } from '../sides.ts';
import { ATTACKS } from './attacks.ts';

const SECONDS = 8;
const EVERY_MS = 50;
/** Long enough for what is open to be closed, shorter than any idle time-out that would close it anyway. */
const SETTLE_MS = 5_000;
const LIMITS = { demo: true, eventsPerSecond: 20, eventsBurst: 100 };

interface Seen {
  readonly latencies: number[];
  sent: number;
}

/** Sends a signal every 50 ms until it is aborted, and measures the time to its arrival in ms. */
async function witness([from, to]: readonly [Peer, Peer], signal: AbortSignal): Promise<Seen> {
  const seen: Seen = { latencies: [], sent: 0 };
  to.socket.on('signal', ({ data }: { data: number }) => seen.latencies.push(performance.now() - data));
  while (!signal.aborted) {
    from.socket.emit('signal', { to: to.name, data: performance.now() });
    seen.sent += 1;
    await wait(EVERY_MS);
  }
  await wait(SETTLE_MS);
  return seen;
}

/** Longest time of `/healthz` in ms, asked twice a second. */
async function askHealth(side: Side, signal: AbortSignal): Promise<number> {
  let longest = 0;
  while (!signal.aborted) {
    const start = performance.now();
    await fetch(`${side.url}/healthz`, { signal: AbortSignal.timeout(10_000) }).catch(() => {});
    longest = Math.max(longest, performance.now() - start);
    await wait(500);
  }
  return longest;
}

interface Created {
  asked: number;
  refused: number;
  /** Instant of the newest reply that was not a refusal. */
  lastAt: number;
}

/** Creates a room every half second, which needs the store, until it is aborted and a room was created after that. */
async function create({ socket }: Peer, signal: AbortSignal): Promise<Created> {
  const created: Created = { asked: 0, refused: 0, lastAt: 0 };
  for (let again = true; again; ) {
    const last = signal.aborted;
    const reply = await socket
      .timeout(10_000)
      .emitWithAck('room:create', {})
      .catch(() => ({ ok: false }));
    again = !(last && reply.ok);
    created.lastAt = performance.now();
    if (!last) created.asked += 1;
    if (!last && !reply.ok) created.refused += 1;
    await wait(500);
  }
  return created;
}

async function measure(name: string): Promise<string[]> {
  await using redis = await startRedis();
  await using side = await startSide('ours', redis.url, LIMITS);
  const [creator, ...peers] = (await connectPeers(side, 3)) as [Peer, Peer, Peer];
  await seat(side, peers, 2);
  const [descriptors, cpu, start] = [await openFiles(side.pid), await side.cpu(), performance.now()];
  const stop = new AbortController();
  const watching = Promise.all([
    witness(peers, stop.signal),
    askHealth(side, stop.signal),
    create(creator, stop.signal),
  ]);
  const attacker = fork(new URL('./attacker.ts', import.meta.url), [name, side.url, String(SECONDS)]);
  const [code] = await once(attacker, 'exit');
  if (code !== 0) throw new Error(`the attack has failed: ${name}`);
  const load = ((await side.cpu()) - cpu) / 10 / (performance.now() - start);
  const memory = await residentMegabytes(side.pid);
  const ended = performance.now();
  stop.abort();
  const [{ latencies, sent }, health, { asked, refused, lastAt }] = await watching;
  const left = (await openFiles(side.pid)) - descriptors;
  disconnect([creator, ...peers]);
  const lost = sent - latencies.length;
  return [
    name,
    ms(median(latencies)),
    ms(Math.max(...latencies)),
    String(lost),
    `${refused} of ${asked}`,
    ((lastAt - ended) / 1_000).toFixed(1),
    ms(health),
    load.toFixed(0),
    memory,
    String(left),
  ];
}

const ms = (value: number): string => (value < 10 ? value.toFixed(1) : value.toFixed(0));

const wait = (forMs: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, forMs);
  });

const openFiles = async (pid: number): Promise<number> => (await readdir(`/proc/${pid}/fd`)).length;

async function residentMegabytes(pid: number): Promise<string> {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number(kilobytes) / 1024).toFixed(0);
}

const word = process.argv[2] ?? '';
const columns = [
  'attack',
  'signal, median ms',
  'longest ms',
  'lost',
  'creates refused',
  'next create after, s',
  '/healthz, longest ms',
  'CPU %',
  'MB',
  'descriptors left',
];
console.log(`| ${columns.join(' | ')} |\n|${columns.map((_, at) => (at === 0 ? '---' : '---:')).join('|')}|`);
for (const name of Object.keys(ATTACKS)) {
  if (name.includes(word)) console.log(`| ${(await measure(name)).join(' | ')} |`);
}
