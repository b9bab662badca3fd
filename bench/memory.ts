/**
 * What an idle member of a room of eight weighs, against a bare Socket.IO connection: thousands of connections to each,
 * the heap after the garbage was collected, and what the operating system has given the process.
 */
import { connectPeers, disconnect, seat } from './clients.ts';
import { type Round, type Row, toRow } from './figures.ts';
import { type SideName, startSide } from './sides.ts';

const CONNECTIONS = Number(process.env['BENCH_CONNECTIONS'] ?? 2_000);
const STARTS = 2;
/** What the first connections load and compile is not the weight of a connection. */
const WARM_UP = 200;
const ROOM = 8;

interface Weight {
  readonly heap: number;
  readonly rss: number;
}

/** KB per connection. */
async function weigh(name: SideName): Promise<Weight> {
  await using side = await startSide(name);
  const first = await connectPeers(side, WARM_UP);
  await seat(side, first, ROOM);
  const before = await side.memory();
  const peers = await connectPeers(side, CONNECTIONS);
  await seat(side, peers, ROOM);
  const after = await side.memory();
  disconnect([...first, ...peers]);
  const each = (key: keyof Weight) => (after[key] - before[key]) / CONNECTIONS / 1024;
  return { heap: each('heap'), rss: each('rss') };
}

export async function benchMemory(): Promise<Row[]> {
  const heap: Round[] = [];
  const rss: Round[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    const ours = await weigh('ours');
    const bare = await weigh('bare');
    heap.push({ ours: ours.heap, bare: bare.heap });
    rss.push({ ours: ours.rss, bare: bare.rss });
  }
  return [
    toRow('memory: idle member, heap', 'KB', heap, 1.25),
    toRow('memory: idle member, resident', 'KB', rss, 1.25),
  ];
}
