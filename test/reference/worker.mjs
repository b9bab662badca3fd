/**
 * A process that issues references and reports them to its parent over IPC, see worker-process.ts. It uses the built
 * generator, and beside it a naive one (if Redis has no key, set it to the highest number in the database; then INCR).
 */
import pg from 'pg';
import { createClient } from 'redis';
import { openLedger } from '../../dist/reference/from-options.js';
import { createCountedReferences } from '../../dist/reference/generator.js';
import { createRedisCounter } from '../../dist/reference/redis/counter.js';

const { ledger: ledgerUrl, redis: redisUrl, naive = false, outageMs, dieAt } = JSON.parse(process.argv[2]);
const RETRY_MS = 10;

/** Kills the process before or after a step of a lease; by SIGKILL, so that no handler runs. */
const step = (name, work) => {
  return async (...args) => {
    if (dieAt === `before ${name}`) process.kill(process.pid, 'SIGKILL');
    const result = await work(...args);
    if (dieAt === `after ${name}`) process.kill(process.pid, 'SIGKILL');
    return result;
  };
};

let takes = 0;
async function countTake(request) {
  const taken = await counter.take(request);
  takes += 1;
  return taken;
}

const ledger = openLedger(ledgerUrl);
const counter = redisUrl && createRedisCounter({ url: redisUrl, referencePrefix: 'ecm', deadlineMs: 500 });
const generator = createCountedReferences(
  {
    ledger: { ...ledger, lease: step('lease', (request) => ledger.lease(request)) },
    ...(counter && {
      counter: {
        ...counter,
        take: step('take', countTake),
        add: step('add', (type, block) => counter.add(type, block)),
      },
    }),
  },
  { ...(outageMs && { outageMs }), onNotice: (notice) => process.send({ notice }) },
);

/** Consecutive numbers as ranges: a batch has one or two. */
function rangesOf(numbers) {
  const ranges = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === number) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}

const sequenceOf = (reference) => Number(reference.slice('ORD2026'.length));

async function issueCounted(batch) {
  const references = await generator.generateMany('order', batch);
  process.send({ recipe: 'counted', takes, ranges: rangesOf(references.map(sequenceOf)) });
}

let database;
let client;
async function issueNaively(batch) {
  client ??= createClient({ url: redisUrl, disableOfflineQueue: true }).on('error', () => {});
  if (!client.isOpen) client.connect().catch(() => {});
  if (!client.isReady) throw new Error('not yet');
  database ??= new pg.Pool({ connectionString: ledgerUrl, max: 1, query_timeout: 1_000 }).on('error', () => {});
  if ((await client.exists('naive')) === 0) {
    const { rows } = await database.query('SELECT COALESCE(MAX(highest), 0) AS highest FROM naive');
    await client.set('naive', rows[0].highest, { condition: 'NX' });
  }
  const last = await client.incrBy('naive', batch);
  process.send({ recipe: 'naive', ranges: [[last - batch + 1, last]] });
  await database.query('INSERT INTO naive VALUES ($1)', [last]);
}

let running = false;
async function run(batch, pauseMs, issue, recipe) {
  while (running) {
    try {
      await issue(batch);
    } catch (error) {
      process.send({ refused: recipe, reason: `${error.name}: ${error.message}` });
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    // Also when all numbers come from memory: messages of the parent must be received.
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

let loops = Promise.resolve();
process.on('message', async ({ command, batch, pauseMs, count }) => {
  if (command === 'run') {
    running = true;
    loops = Promise.all([
      run(batch, pauseMs, issueCounted, 'counted'),
      naive ? run(batch, pauseMs, issueNaively, 'naive') : undefined,
    ]);
  }
  if (command === 'pause') {
    running = false;
    await loops;
    process.send({ done: true });
  }
  if (command === 'issue') {
    for (let left = count; left > 0; left -= 500) await issueCounted(Math.min(left, 500));
    process.send({ done: true });
  }
});
process.on('disconnect', () => process.exit());
process.send({ ready: true });
