/** The end of a run in lines: how often each fault was inflicted, what the clients did, and each law with its verdict. */
import { LAWS } from './checker/check.ts';
import { type Result, tally } from './run.ts';

const SHOWN = 5;
const MEGABYTE = 2 ** 20;

export function report({ run, violations, memory, secondsOf }: Result): string[] {
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
    ...rows(memory.map((it) => [it.node, `${megabytes(it.before)} before, ${megabytes(it.after)} after`])),
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

const megabytes = (bytes: number): string => `${Math.round(bytes / MEGABYTE)} MiB`;
