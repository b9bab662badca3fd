/** How an option is written down. */
import { z } from 'zod';

type Kind = 'text' | 'number' | 'flag' | 'list';

export interface Entry<Schema extends z.ZodType = z.ZodType> {
  readonly kind: Kind;
  readonly schema: Schema;
  readonly about: string;
  /** A plain name that is understood beside the SIGNALBOX_ one. */
  readonly env?: string;
  /** Never printed. */
  readonly secret?: true;
}

type Extra = Pick<Entry, 'env' | 'secret'>;

export function entry<Schema extends z.ZodType>(
  kind: Kind,
  schema: Schema,
  about: string,
  extra: Extra = {},
): Entry<Schema> {
  return { kind, schema, about, ...extra };
}

export const text = (fallback: string, about: string, extra?: Extra) =>
  entry('text', z.string().default(fallback), about, extra);
export const optionalText = (about: string, extra?: Extra, least = 1) =>
  entry('text', z.string().min(least).optional(), about, extra);
export const whole = (fallback: number, least: number, most: number, about: string, extra?: Extra) =>
  entry('number', z.int().min(least).max(most).default(fallback), about, extra);
export const milliseconds = (fallback: number, about: string, least = 1) => whole(fallback, least, 2 ** 31 - 1, about);
export const flag = (fallback: boolean, about: string) => entry('flag', z.boolean().default(fallback), about);
export const list = (fallback: string[], about: string) =>
  entry('list', z.array(z.string().min(1)).default(fallback), about);

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
