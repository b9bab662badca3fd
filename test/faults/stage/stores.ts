/** Reads what the checker compares with: Redis key by key and by the audit, the feed, the records. Not through the servers. */
import { auditShards } from '../../../src/engine/redis/audit.ts';
import { connectPlainClient } from '../../../src/redis/plain-client.ts';
import { createPool } from '../../../src/room/pool.ts';
import type { AuditSample, CallRecord, FeedEntry, Standing } from '../checker/run.ts';
import { machineMs } from '../clients/journal.ts';
import type { ChaosNode } from './node.ts';

const DIGITS = 6;

type Client = Awaited<ReturnType<typeof connectPlainClient>>;

async function withRedis<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = await connectPlainClient('chaos', url);
  try {
    return await use(client);
  } finally {
    client.destroy();
  }
}

export const readRooms = (url: string): Promise<Standing[]> =>
  withRedis(url, async (client) => {
    const rooms: Standing[] = [];
    for await (const batch of client.scanIterator({ MATCH: 'sb:{s[0-9][0-9]}:room:*', COUNT: 1_000 })) {
      for (const key of batch) {
        const code = key.slice(key.lastIndexOf(':') + 1);
        const [{ ref = '', rev = '' }, members] = await Promise.all([
          client.hGetAll(key),
          client.hKeys(key.replace(':room:', ':members:')),
        ]);
        if (ref !== '') rooms.push({ code, ref, rev: Number(rev), members: members.toSorted() });
      }
    }
    return rooms;
  });

/** The seats in Redis in words, for somebody who has to find out why they are still there. */
export const describeSeats = (url: string): Promise<string[]> =>
  withRedis(url, async (client) => {
    const words: string[] = [];
    const { seconds } = await client.time().then((time) => ({ seconds: Number(time[0]) }));
    for await (const batch of client.scanIterator({ MATCH: 'sb:{s[0-9][0-9]}:members:*', COUNT: 1_000 })) {
      for (const key of batch) {
        for (const seat of await client.hVals(key)) {
          const { userId, state, nodeId, leaseUntil } = JSON.parse(seat);
          words.push(`${key}: ${userId} ${state} on ${nodeId}, lease ends in ${leaseUntil / 1_000 - seconds} s`);
        }
      }
    }
    return words;
  });

export async function audit(url: string): Promise<AuditSample> {
  const pool = createPool(DIGITS);
  const shards = await auditShards({ url, pool });
  const sum = (figure: 'free' | 'occupied' | 'cooling') => shards.reduce((total, it) => total + it[figure], 0);
  return {
    at: machineMs(),
    free: sum('free'),
    occupied: sum('occupied'),
    cooling: sum('cooling'),
    total: pool.perShard * shards.length,
    disagreements: shards.flatMap(({ disagreements }) => disagreements),
  };
}

export const readFeed = (url: string): Promise<FeedEntry[]> =>
  withRedis(url, async (client) =>
    ((await client.xRange('sb:events', '-', '+')) ?? []).map(({ message }): FeedEntry => {
      const { id, type, ref, rev, userId, reason = null } = JSON.parse(message['event'] ?? '{}');
      return { id, type, ref, rev, userId, reason };
    }),
  );

/** The keys that do not expire, without those that the servers keep for ever. */
export const lastingKeys = (url: string): Promise<string[]> =>
  withRedis(url, async (client) => {
    const lasting: string[] = [];
    for await (const batch of client.scanIterator({ COUNT: 1_000 })) {
      for (const key of batch) if ((await client.ttl(key)) === -1 && !KEPT.test(key)) lasting.push(key);
    }
    return lasting;
  });

/** Bitmaps of the pool, the feed and the state of its readers, counters of references. */
const KEPT =
  /^sb:(\{s\d\d\}:(taken|meta|epoch)|events|pool|secret|probe|(ref|hooks?|webhooks?):?.*|\{ref\}.*|\{hooks?\}.*)$/;

/** @param nodes each page is asked of the next one; where none runs any more there are no records */
export async function readCalls(nodes: readonly ChaosNode[], adminToken: string): Promise<CallRecord[]> {
  const calls: CallRecord[] = [];
  let cursor: string | null = nodes.length === 0 ? null : '';
  for (let page = 0; cursor !== null; page += 1) {
    const { process, id } = nodes[page % nodes.length] ?? expectNode();
    const query = new URLSearchParams({ limit: '100', ...(cursor !== '' && { cursor }) });
    const headers = { authorization: `Bearer ${adminToken}` };
    const response = await fetch(`${process.url}/v1/calls?${query}`, { headers, signal: AbortSignal.timeout(5_000) });
    if (!response.ok) throw new Error(`${id} answers ${response.status} for call records: ${await response.text()}`);
    const { calls: some, cursor: next } = (await response.json()) as CallPage;
    calls.push(
      ...some.map(({ ref, endedAt, complete, sessions }) => ({
        ref,
        ended: endedAt !== null,
        complete,
        seats: sessions.map(({ userId, leftAt, reason }) => ({ userId, reason: leftAt === null ? null : reason })),
      })),
    );
    cursor = next;
  }
  return calls;
}

function expectNode(): never {
  throw new Error('there are no nodes');
}

interface CallPage {
  readonly cursor: string | null;
  readonly calls: readonly {
    readonly ref: string;
    readonly endedAt: number | null;
    readonly complete: boolean;
    readonly sessions: readonly {
      readonly userId: string;
      readonly leftAt: number | null;
      readonly reason: string | null;
    }[];
  }[];
}
