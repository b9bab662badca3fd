/** How an option is written down. */
import { z } from 'zod';

type Kind = 'text' | 'number' | 'flag' | 'list';

export interface OptionEntry<Schema extends z.ZodType = z.ZodType> {
  readonly kind: Kind;
  readonly schema: Schema;
  readonly help: string;
  /** A plain name that is understood beside the SIGNALBOX_ one. */
  readonly env?: string;
  /** Never printed. */
  readonly secret?: true;
}

type Extra = Pick<OptionEntry, 'env' | 'secret'>;

export function optionEntry<Schema extends z.ZodType>(
  kind: Kind,
  schema: Schema,
  help: string,
  extra: Extra = {},
): OptionEntry<Schema> {
  return { kind, schema, help, ...extra };
}

export const text = (fallback: string, help: string, extra?: Extra) =>
  optionEntry('text', z.string().default(fallback), help, extra);
export const optionalText = (help: string, extra?: Extra, least = 1) =>
  optionEntry('text', z.string().min(least).optional(), help, extra);
export const integer = (fallback: number, least: number, most: number, help: string, extra?: Extra) =>
  optionEntry('number', z.int().min(least).max(most).default(fallback), help, extra);
export const milliseconds = (fallback: number, help: string, least = 1) => integer(fallback, least, 2 ** 31 - 1, help);
export const flag = (fallback: boolean, help: string) => optionEntry('flag', z.boolean().default(fallback), help);
export const list = (fallback: string[], help: string) =>
  optionEntry('list', z.array(z.string().min(1)).default(fallback), help);

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
