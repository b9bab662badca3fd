/** The end of a run in lines: how often each fault was inflicted, what the clients did, and each law with its verdict. */
import { LAWS } from './checker/check.ts';
import { listOf, type MemorySample } from './checker/run.ts';
import { type Result, tally } from './run.ts';

const SHOWN = 5;
/** A process without a sample for so long has ended. */
const ENDED_MS = 3_000;
const MEGABYTE = 2 ** 20;

export function report({ run, violations, secondsOf }: Result): string[] {
  const faults = new Map<string, number>();
  for (const { fault } of run.faults) faults.set(fault, (faults.get(fault) ?? 0) + 1);
  return [
    '',
    'faults',
    ...rows([...faults].map(([name, count]) => [name, String(count)])),
    'clients',
    ...rows(Object.entries(tally(run.clients)).map(([name, count]) => [name, String(count)])),
    'stores',
    ...rows([
      ['audits', String(run.audits.length)],
      ['events of the feed', String(run.feed.length)],
      ['webhooks received', String(run.webhooks.length)],
      ['call records', String(run.calls.length)],
    ]),
    'memory',
    ...rows(memoryOf(run.memory)),
    'laws',
    ...Object.keys(LAWS).flatMap((law) => {
      const broken = violations.filter((violation) => violation.law === law);
      const shown = broken
        .slice(0, SHOWN)
        .map(({ at, text }) => `      ${at === 0 ? '' : `${secondsOf(at)} s  `}${text}`);
      const more = broken.length > SHOWN ? [`      and ${broken.length - SHOWN} more`] : [];
      return [...rows([[law, broken.length === 0 ? 'holds' : `BROKEN ${broken.length} times`]]), ...shown, ...more];
    }),
  ];
}

const rows = (table: readonly (readonly string[])[]): string[] =>
  table.map(([name = '', value]) => `  ${name.padEnd(72)} ${value}`);

/** Of each process that was there at the end: what it had at its start, in each half of its life, and at its end. */
function memoryOf(samples: readonly MemorySample[]): string[][] {
  const processes = new Map<string, MemorySample[]>();
  for (const sample of samples) listOf(processes, sample.process).push(sample);
  const end = samples.at(-1)?.at ?? 0;
  return [...processes].flatMap(([process, all]) => {
    const [first, last] = [all[0], all.at(-1)];
    if (first === undefined || last === undefined || last.at < end - ENDED_MS) return [];
    const half = Math.ceil(all.length / 2);
    const [one, two] = [all.slice(0, half), all.slice(half)].map((part) => megabytes(mean(part)));
    const seconds = Math.round((last.at - first.at) / 1_000);
    const figures = `${megabytes(first.bytes)} at first, ${one} and ${two} in the halves of ${seconds} s, ${megabytes(last.bytes)} at last`;
    return [[process, figures]];
  });
}

const mean = (samples: readonly MemorySample[]): number =>
  samples.reduce((sum, { bytes }) => sum + bytes, 0) / Math.max(1, samples.length);

const megabytes = (bytes: number): string => `${Math.round(bytes / MEGABYTE)} MiB`;
