/** `npm run chaos:planted`: breaks the server on purpose, one bug after the other, and shows which law has found it. */
import setup from '../../support/global-setup.ts';
import { faultsNamed } from '../faults/all.ts';
import { runChaos } from '../run.ts';
import { SHORT_TIMERS } from '../stage/timers.ts';
import { BUGS, type Bug } from './bugs.ts';
import { buildWith } from './build.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Longer than a lease. */
const FOR_MS = 12_000;

async function lawsThatFind({ patches, faults }: Bug): Promise<string[]> {
  await using build = await buildWith(patches);
  const { violations } = await runChaos({
    seed: 20_260_042,
    faults: faultsNamed(faults),
    forMs: FOR_MS,
    timers: SHORT_TIMERS,
    topology: 'standalone',
    clients: 20,
    paceMs: 250,
    say: () => undefined,
    main: build.main,
  });
  return [...new Set(violations.map(({ law }) => law))];
}

await setup();
const wanted = process.argv.slice(2).join(' ');
for (const bug of BUGS.filter(({ name }) => name.includes(wanted))) {
  const found = await lawsThatFind(bug);
  const isCaught = found.includes(bug.caughtBy);
  if (!isCaught) process.exitCode = 1;
  const others = found.filter((law) => law !== bug.caughtBy);
  say(
    `${isCaught ? 'caught' : 'MISSED'}  ${bug.name.padEnd(60)} ${bug.caughtBy}${others.length > 0 ? ` (also: ${others.join('; ')})` : ''}`,
  );
}
