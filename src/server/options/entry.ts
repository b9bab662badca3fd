/** The types of option entries and their constructors. */
import { z } from 'zod';
import type { Reading } from '../../support/reading.ts';

/** `duration`: a number of milliseconds, which the command line also reads with a unit, such as 30s. */
export type OptionKind = 'text' | 'number' | 'duration' | 'flag' | 'list';

export interface OptionEntry<Schema extends z.ZodType = z.ZodType> {
  readonly kind: OptionKind;
  readonly schema: Schema;
  readonly help: string;
  /** A conventional environment variable that is read in addition to the SIGNALBOX_ one, such as PORT. */
  readonly env?: string;
  /** Holds a secret: its value is never printed. */
  readonly secret?: true;
}

type Extra = Pick<OptionEntry, 'env' | 'secret'>;

export function optionEntry<Schema extends z.ZodType>(
  kind: OptionKind,
  schema: Schema,
  help: string,
  extra: Extra = {},
): OptionEntry<Schema> {
  return { kind, schema, help, ...extra };
}

export const optionalText = (help: string, extra?: Extra, minLength = 1) =>
  optionEntry('text', z.string().min(minLength).optional(), help, extra);
export const integer = (defaultValue: number, min: number, max: number, help: string, extra?: Extra) =>
  optionEntry('number', z.int().min(min).max(max).default(defaultValue), help, extra);
/** The longest delay of a timer of Node. */
const MAX_DELAY_MS = 2 ** 31 - 1;
export const milliseconds = (defaultValue: number, help: string, min = 1, max = MAX_DELAY_MS) =>
  optionEntry('duration', z.int().min(min).max(max).default(defaultValue), help);
export const flag = (defaultValue: boolean, help: string) =>
  optionEntry('flag', z.boolean().default(defaultValue), help);

/** The schema of a text with a strict reader: the option has the normal form that the reader returns. */
export const readBy = <Value>(read: (text: string) => Reading<Value>) =>
  z.string().transform((text, context) => {
    const reading = read(text);
    if (!('problem' in reading)) return reading.value;
    context.issues.push({ code: 'custom', message: reading.problem, input: text });
    return z.NEVER;
  });
export const listBy = <Value>(read: (text: string) => Reading<Value>, help: string) =>
  optionEntry('list', z.array(readBy(read)).default([]), help);

/** The schema of a text that its driver reads. @param problemIn says what is wrong, without repeating secrets */
export const checkedBy = (problemIn: (text: string) => string | undefined) =>
  z.string().superRefine((text, context) => {
    const message = problemIn(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
