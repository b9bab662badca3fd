/** `npm run chaos`: random faults for many minutes, and the verdict of the checker. */
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import setup from '../support/global-setup.ts';
import { check } from './checker/check.ts';
import type { Run } from './checker/run.ts';
import { faultsNamed, faultsOn } from './faults/all.ts';
import { report } from './report.ts';
import { runChaos } from './run.ts';
import { LONG_TIMERS, SHORT_TIMERS } from './stage/timers.ts';
import { TOPOLOGIES, type TopologyName } from './stage/topology.ts';

const HELP = `npm run chaos -- [options]

Three nodes behind nginx, with Redis and PostgreSQL of their own, clients in processes of their own, and faults at random.
In the end a checker that knows nothing of the server compares what every client saw with what was promised.

  --minutes N     how long faults go on (default 30)
  --seed N        repeats the faults and the deeds of an earlier run (default: random, and printed)
  --faults a,b    only these (default: all)
  --redis NAME    the store: ${Object.keys(TOPOLOGIES).join(' or ')} (default standalone)
  --clients N     number of clients (default 60)
  --check FILE    judges the logs of an earlier run again
  --short         the short times of the test suite instead of a quarter of the defaults
  --help          this text

${Object.keys(TOPOLOGIES)
  .map(
    (name) => `Faults of ${name}:\n${[...faultsOn(topologyOf(name)).keys()].map((fault) => `  ${fault}`).join('\n')}\n`,
  )
  .join('\n')}
The exit code is 1 when a law was broken; then the logs are kept, and their path is printed.
`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '30' },
      seed: { type: 'string' },
      faults: { type: 'string' },
      redis: { type: 'string', default: 'standalone' },
      clients: { type: 'string', default: '60' },
      short: { type: 'boolean', default: false },
      check: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return say(HELP);
  if (values.check !== undefined) return judge(values.check);
  const seed = number('seed', values.seed ?? String(Math.floor(Math.random() * 1_000_000)));
  const topology = topologyOf(values.redis);
  const faults = faultsNamed(values.faults?.split(',') ?? [...faultsOn(topology).keys()], topology);
  await setup();
  say(`seed ${seed}`);
  const result = await runChaos({
    seed,
    faults,
    forMs: number('minutes', values.minutes) * 60_000,
    timers: values.short ? SHORT_TIMERS : LONG_TIMERS,
    clients: number('clients', values.clients),
    paceMs: 400,
    topology,
    say,
  });
  for (const line of report(result)) say(line);
  if (result.violations.length === 0) return;
  const kept = join(tmpdir(), `signalbox-chaos-${seed}.json`);
  await writeFile(kept, JSON.stringify(result.run));
  say(`the logs are in ${kept}; the same run again: npm run chaos -- --seed ${seed}`);
  process.exitCode = 1;
}

function topologyOf(name: string): TopologyName {
  if (!Object.hasOwn(TOPOLOGIES, name)) throw new Error(`--redis takes ${Object.keys(TOPOLOGIES).join(' or ')}`);
  return name as TopologyName; // checked above
}

async function judge(path: string): Promise<void> {
  const run: Run = JSON.parse(await readFile(path, 'utf8'));
  for (const { law, text } of check({ ...run, memory: run.memory ?? [] })) say(`${law}: ${text}`);
}

function number(name: string, text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new Error(`--${name} takes a number`);
  return Number(text);
}

// Each child process has a listener for the end of this one.
process.setMaxListeners(50);
await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
});
