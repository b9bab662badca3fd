/** The table of prices in `docs/security.md`, from the one that the server charges by. */
import { readFileSync } from 'node:fs';
import type { RequestName } from '../src/protocol/events.ts';
import { PRICES } from '../src/server/limits/prices.ts';
import { tableText } from './table-text.ts';

const SEATS = [8, 30, 100] as const;
/** Requests whose price depends on their payload, with the payloads that the table shows. */
const EXAMPLES: Readonly<
  Partial<Record<RequestName, readonly { readonly label: string; readonly payload: object }[]>>
> = {
  message: [
    { label: '`message`, 200 bytes', payload: { data: { bytes: 200 } } },
    { label: '`message`, 4 KiB', payload: { data: { bytes: 4096 } } },
  ],
};

/** The page, with the table between its two comments replaced by the present one. */
export function printPricesInto(page: 'docs/security.md'): string {
  const text = readFileSync(new URL(`../${page}`, import.meta.url), 'utf8');
  const between = /(<!-- prices: .*?-->\n).*?(\n<!-- end of prices -->)/s;
  if (!between.test(text)) throw new Error(`${page} has no place for the prices`);
  return text.replace(between, (_all, start: string, end: string) => `${start}\n${pricesTable()}\n${end}`);
}

function pricesTable(): string {
  // The keys of the table are the names of the requests.
  const names = Object.keys(PRICES) as RequestName[];
  const rows = names.flatMap((name) =>
    (EXAMPLES[name] ?? [{ label: `\`${name}\``, payload: {} }]).map(({ label, payload }) => [
      label,
      // Each payload is one that this request takes, or one that its price does not look at.
      ...SEATS.map((seats) => String(PRICES[name].of(payload as never, seats))),
      PRICES[name].about,
    ]),
  );
  return tableText(['request', ...SEATS.map((seats) => `room of ${seats}`), 'what is paid for'], rows);
}
