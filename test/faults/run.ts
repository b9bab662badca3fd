/** A run from its beginning to its figures: faults by the schedule, then rest, then departure, then quiet. */
import { check } from './checker/check.ts';
import { type ClientEntry, entriesOf, type Quiet, type RedisSample, type Run, type Violation } from './checker/run.ts';
import { machineMs } from './clients/journal.ts';
import type { Fault } from './faults/fault.ts';
import { type Planned, partOf, schedule } from './faults/schedule.ts';
import { seeded } from './seeded.ts';
import { watchMemory } from './stage/memory.ts';
import { type Stage, startStage } from './stage/stage.ts';
import { audit, describeSeats, lastingKeys, readCalls, readFeed, readRooms } from './stage/stores.ts';
import { type Say, Timeline } from './stage/timeline.ts';
import { limitsOf, type Timers } from './stage/timers.ts';
import type { TopologyName } from './stage/topology.ts';

export interface RunSettings {
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** How long faults go on. */
  readonly forMs: number;
  readonly timers: Timers;
  readonly clients: number;
  readonly paceMs: number;
  readonly say: Say;
  readonly topology: TopologyName;
  /** Another build of the server. */
  readonly main?: string | undefined;
}

export interface Result {
  readonly run: Run;
  readonly violations: readonly Violation[];
  readonly secondsOf: (at: number) => string;
}

/** Clients find their rooms before the first fault. */
const WARM_UP_MS = 2_000;
/** After the last fault member lists are the truth within this time, and a heartbeat more. */
const TRUTH_WITHIN_MS = 15_000;
const AUDIT_EVERY_MS = 5_000;

export async function runChaos(settings: RunSettings): Promise<Result> {
  const { seed, faults, forMs, timers, clients, paceMs, say, topology, main } = settings;
  const random = seeded(seed);
  const timeline = new Timeline(say);
  const planned = schedule(faults, forMs, timers, random.fork());
  await using stage = await startStage({ timers, clients, paceMs, random: random.fork(), timeline, topology, main });
  using memory = watchMemory(stage.nodes);
  const baseKeys = new Set(await lastingKeys(stage.store.url));
  const audits: Run['audits'][number][] = [];
  const auditing = setInterval(() => void tryAudit(stage, audits), AUDIT_EVERY_MS);
  try {
    await stage.populate();
    timeline.tell(
      `${stage.nodes.length} nodes, ${clients} clients, ${planned.length} faults in ${Math.round(forMs / 1_000)} s`,
    );
    await pause(WARM_UP_MS);
    await Promise.all([play(stage, planned, seeded(seed)), pause(forMs)]);
    await healed(stage);
    const samples = await rest(stage);
    await depart(stage);
    const quiet = await awaitQuiet(stage, baseKeys, audits);
    const run = { ...(await gather(stage, { samples, audits, quiet })), memory: memory.samples };
    return { run, violations: check(run), secondsOf: (at) => timeline.secondsOf(at) };
  } finally {
    clearInterval(auditing);
  }
}

async function play(stage: Stage, planned: readonly Planned[], random: ReturnType<typeof seeded>): Promise<void> {
  const startedAt = machineMs();
  // One after the other for each part: what comes back later than planned delays what is next.
  const parts = new Map<string, Promise<void>>();
  for (const one of planned) {
    const part = partOf(one.target);
    const before = parts.get(part) ?? Promise.resolve();
    const own = random.fork();
    parts.set(
      part,
      before.then(async () => {
        await pause(startedAt + one.atMs - machineMs());
        await inflict(stage, one, own);
      }),
    );
  }
  await Promise.all(parts.values());
}

async function inflict(stage: Stage, { fault, target, lastsMs }: Planned, random: ReturnType<typeof seeded>) {
  const done = stage.timeline.begin(fault.name, target);
  try {
    const end = await fault.begin(stage, target, random);
    await pause(lastsMs);
    await end();
  } finally {
    done();
  }
}

async function healed(stage: Stage): Promise<void> {
  stage.timeline.tell('the last fault is over');
  const ready = async () => (await Promise.all(stage.nodes.map((node) => node.isReady()))).every(Boolean);
  if (!(await within(60_000, ready))) stage.timeline.tell('a node is not ready again after 60 s');
}

/** The clients do nothing more. Their rooms are compared with Redis until they agree, or the time for it is over. */
async function rest(stage: Stage): Promise<RedisSample[]> {
  await Promise.all(stage.workers.map((worker) => worker.tell({ order: 'rest' })));
  const samples: RedisSample[] = [];
  const agree = async (): Promise<boolean> => {
    const probe = samples.length + 1;
    await Promise.all(stage.workers.map((worker) => worker.tell({ order: 'stand', probe })));
    samples.push({ at: machineMs(), probe, rooms: await readRooms(stage.store.url) });
    const entries = (await stage.entries()).filter((it) => it.kind === 'stands' && it.probe === probe);
    return check({ ...nothing(stage), exits: [], clients: entries, samples }).length === 0;
  };
  const began = machineMs();
  const isTrue = await within(TRUTH_WITHIN_MS + stage.timers.heartbeatIntervalMs, agree, 1_000);
  const tookMs = Math.round(machineMs() - began);
  stage.timeline.tell(
    isTrue ? `all member lists are the truth, ${tookMs} ms after the last deed` : 'member lists differ',
  );
  return samples;
}

/** Half of the clients leave, the others are gone without a word. */
async function depart({ workers, timeline }: Stage): Promise<void> {
  const [first, ...others] = workers;
  await first?.tell({ order: 'close' });
  await first?.kill();
  await Promise.all(others.map((worker) => worker.kill()));
  timeline.tell('the last client has gone');
}

async function awaitQuiet(
  stage: Stage,
  baseKeys: ReadonlySet<string>,
  audits: Run['audits'][number][],
): Promise<Quiet> {
  const lastClientAt = machineMs();
  const { emptyWithinMs, freeWithinMs } = limitsOf(stage.timers);
  const last = async () => {
    await tryAudit(stage, audits);
    return audits.at(-1);
  };
  const isEmpty = await within(emptyWithinMs, async () => (await last())?.occupied === 0, 500);
  const emptyAt = isEmpty ? machineMs() : null;
  if (!isEmpty) for (const seat of await describeSeats(stage.store.url)) stage.timeline.tell(`still there: ${seat}`);
  const isFree = isEmpty && (await within(freeWithinMs, async () => (await last())?.cooling === 0, 500));
  const freeAt = isFree ? machineMs() : null;
  const strayKeys = (await lastingKeys(stage.store.url)).filter((key) => !baseKeys.has(key));
  const seconds = (at: number | null) => (at === null ? 'never' : `${((at - lastClientAt) / 1_000).toFixed(1)} s`);
  stage.timeline.tell(`occupied 0 after ${seconds(emptyAt)}, everything free after ${seconds(freeAt)}`);
  return { lastClientAt, emptyAt, freeAt, strayKeys };
}

/** What is read from the stores comes last: records and webhooks may be behind the feed by some seconds. */
async function gather(
  stage: Stage,
  { samples, audits, quiet }: Pick<Run, 'samples' | 'audits' | 'quiet'>,
): Promise<Run> {
  let run: Run = { ...nothing(stage), clients: await stage.entries(), samples, audits, quiet };
  let unread: unknown;
  const read = async (): Promise<boolean> => {
    unread = new Error('the stores were not read in time');
    const feed = await readFeed(stage.store.url);
    const running = stage.nodes.filter((node) => node.isRunning);
    const calls = await readCalls(running, stage.adminToken).catch((error: unknown) => {
      unread = error;
      throw error;
    });
    unread = undefined;
    run = { ...run, feed, calls, webhooks: [...stage.receiver.taken] };
    return check({ ...run, clients: [], samples: [], audits: [], quiet: null, exits: [] }).length === 0;
  };
  await within(20_000, read, 1_000);
  // What could not be read would count as kept.
  if (unread !== undefined) throw unread;
  return run;
}

const nothing = (stage: Stage): Run => ({
  clients: [],
  faults: stage.timeline.faults,
  samples: [],
  audits: [],
  exits: stage.timeline.exits,
  memory: [],
  feed: [],
  webhooks: [],
  calls: [],
  quiet: null,
  limits: limitsOf(stage.timers),
});

/** While Redis is away there is nothing to audit. */
async function tryAudit(stage: Stage, audits: Run['audits'][number][]): Promise<void> {
  try {
    audits.push(await timely(audit(stage.store.url)));
  } catch {
    // The next one follows.
  }
}

function timely<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), 5_000);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

async function within(ms: number, condition: () => Promise<boolean>, everyMs = 250): Promise<boolean> {
  const latest = machineMs() + ms;
  for (;;) {
    if (await condition().catch(() => false)) return true;
    if (machineMs() > latest) return false;
    await pause(everyMs);
  }
}

/** The figures of what the clients did. */
export function tally(clients: readonly ClientEntry[]): Record<string, number> {
  const run = { clients } as Run; // the other parts are not looked at
  const settled = entriesOf(run, 'settled');
  const of = (name: string) => settled.filter((entry) => entry.name === name && entry.error === null).length;
  return {
    clients: new Set(clients.map(({ client }) => client)).size,
    connections: entriesOf(run, 'welcomed').length,
    creates: of('create'),
    joins: of('join'),
    leaves: of('leave'),
    'signals acknowledged': of('signal'),
    'signals refused': settled.filter(({ name, error }) => name === 'signal' && error !== null).length,
    'signals received': entriesOf(run, 'heard').length,
    'requests refused': settled.filter(({ error }) => error !== null).length,
  };
}
