/** Medians and ratios, and the table they are told in. */

export interface Row {
  readonly what: string;
  readonly unit: string;
  readonly ours: number;
  readonly bare: number;
  /** Median of the rounds' ratios: what disturbs one round disturbs both of its sides. */
  readonly ratio: number;
  /** The ratio we want to stay below; without it the row is only information. */
  readonly target?: number;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

export interface Round {
  readonly ours: number;
  readonly bare: number;
}

export function toRow(what: string, unit: string, rounds: readonly Round[], target?: number): Row {
  return {
    what,
    unit,
    ours: median(rounds.map(({ ours }) => ours)),
    bare: median(rounds.map(({ bare }) => bare)),
    ratio: median(rounds.map(({ ours, bare }) => ours / bare)),
    ...(target !== undefined && { target }),
  };
}

const HEAD = ['what', 'unit', 'ours', 'bare', 'ratio', 'target'];

/** A Markdown table, aligned so that it reads well in a terminal too. */
export function toTable(rows: readonly Row[]): string {
  const cells = [HEAD, ...rows.map(toCells)];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((cell, column) => pad(cell, column, widths)).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column < 2 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  const [head = [], ...body] = cells;
  return [line(head), rule, ...body.map(line)].join('\n');
}

const pad = (cell: string, column: number, widths: readonly number[]): string =>
  column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);

const toCells = ({ what, unit, ours, bare, ratio, target }: Row): string[] => [
  what,
  unit,
  digits(ours),
  digits(bare),
  ratio.toFixed(2),
  target === undefined ? '' : `${target.toFixed(2)}${ratio <= target ? '' : ' (missed)'}`,
];

const digits = (value: number): string => (value < 100 ? value.toFixed(1) : value.toFixed(0));
