/** The shared counter in Redis, on a connection of its own: commands of rooms and of references do not wait for each other. */
import { z } from 'zod';
import type { RedisClient } from '../../redis/client.ts';
import { createRunner } from '../../redis/cluster/runner.ts';
import { createReconnect } from '../../redis/reconnect.ts';
import { closeBounded, createRoleClients } from '../../redis/role-client.ts';
import { addressOf } from '../../redis/url.ts';
import { startWriteProbe } from '../../redis/write-probe.ts';
import { systemClock } from '../../support/clock.ts';
import { withDeadline } from '../../support/deadline.ts';
import { type Log, silentLog } from '../../support/log.ts';
import { StoreUnavailable } from '../../support/store.ts';
import { createStoreLog } from '../../support/store-log.ts';
import { StoreWatch } from '../../support/store-watch.ts';
import { type Counter, CounterUnavailable, type TakeResult } from '../counter.ts';
import { MAX_BLOCK } from '../ledger.ts';
import { loadScripts } from './scripts.ts';

export interface RedisCounterOptions {
  /** May contain credentials. */
  readonly url: string;
  /** Prefix of every key. */
  readonly referencePrefix: string;
  readonly log?: Log;
  readonly deadlineMs?: number;
}

/** Time for one node to lease a block before another node may: long enough for a lease, short in case the node died. */
const CLAIM_MS = 5_000;

const hint = z.object({ year: z.int(), top: z.int(), amount: z.int() });
const stamp = { now: z.int(), year: z.int(), epoch: z.string().min(1) };
const takeReply = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    ...stamp,
    ranges: z.array(z.tuple([z.int(), z.int()])),
    hints: z.array(hint),
  }),
  z.object({ ok: z.literal(false), ...stamp, short: hint }),
]);
const added = z.object({ ok: z.boolean() });

/** Has exactly one colon after the prefix. */
export const keyOf = (prefix: string, name: number | 'probe'): string => `${prefix.replace(/:+$/, '')}:ref:${name}`;

/**
 * Connects in the background, with no limit of time: the ledger serves until Redis answers.
 *
 * @throws Error when the URL is not one of Redis.
 */
export function createRedisCounter({
  url,
  referencePrefix,
  log = silentLog,
  deadlineMs = 1_000,
}: RedisCounterOptions): Counter {
  addressOf(url);
  const scripts = loadScripts();
  const client = createCounterClient(url, log);
  const connected = client.connect().then(
    () => {},
    (error: unknown) => log.debug({ err: error }, 'connecting to Redis for references was cancelled'),
  );
  // The first requests wait for the connection a moment, rather than lease numbers of their own from the ledger.
  const settled = withDeadline(connected, deadlineMs, () => new Error('not yet')).catch(() => {});
  const runner = createRunner({
    client,
    deadlineMs,
    messageProblem: () => undefined,
    onChange: createStoreLog(log, 'the counter of references'),
    onNoPrimary: createReconnect([client], systemClock),
    clock: systemClock,
  });
  // Numbers are buffered: without it, a demoted primary would be noticed and left long after the others have left it.
  const probed = { key: keyOf(referencePrefix, 'probe'), scripts: Object.values(scripts) };
  const stopProbe = startWriteProbe({ runner, ...probed, clock: systemClock });
  const watch = watchKeys(log);
  const run = async (name: keyof typeof scripts, number: number, command: object): Promise<unknown> => {
    await settled;
    const keys = [keyOf(referencePrefix, number)];
    try {
      return await watch.run(`count ${number}`, async () =>
        JSON.parse(z.string().parse(await runner.run(scripts[name], keys, [JSON.stringify(command)]))),
      );
    } catch (error) {
      if (error instanceof StoreUnavailable) throw new CounterUnavailable(error.message, { cause: error });
      throw error;
    }
  };
  return {
    async take({ type, after, ...request }) {
      const command = { prefix: type.prefix, ...request, after, maxBlock: MAX_BLOCK, claimMs: CLAIM_MS };
      return toTakeResult(takeReply.parse(await run('take', type.number, command)));
    },
    async add(type, { year, first, last }) {
      return added.parse(await run('add', type.number, { prefix: type.prefix, year, first, last })).ok;
    },
    health: () => (runner.health().state === 'up' ? watch.health() : runner.health()),
    async close() {
      stopProbe();
      await closeBounded(client);
      await connected;
    },
  };
}

function createCounterClient(url: string, log: Log): RedisClient {
  const onConnectionChange = (role: string, up: boolean, error: Error | undefined): void =>
    log.info({ role, up, ...(error && { reason: error.message }) }, 'connection to Redis');
  const warn = (message: string): void => log.warn(message);
  return createRoleClients(['references'], { url, warn, onConnectionChange }, () => {}).references;
}

/** What Redis refuses for one key alone, such as one of another type: the runner sees what it refuses to everybody. */
function watchKeys(log: Log): StoreWatch {
  const isFailure = (error: unknown): boolean => !(error instanceof StoreUnavailable);
  return new StoreWatch({ clock: systemClock, onChange: createStoreLog(log, 'counting in Redis'), isFailure });
}

function toTakeResult(reply: z.infer<typeof takeReply>): TakeResult {
  if (!reply.ok) return reply;
  return { ...reply, ranges: reply.ranges.map(([first, last]) => ({ year: reply.year, first, last })) };
}
