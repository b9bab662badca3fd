/**
 * The table of all options. An option has one name in three spellings: `graceMs` here, `--grace-ms` on the command line,
 * `SIGNALBOX_GRACE_MS` in the environment; the latter two are derived from this table.
 */
import type { z } from 'zod';
import { BACK_ENDS } from './back-ends.ts';
import { BOUNDS } from './bounds.ts';
import { MEDIA } from './media.ts';
import { ROOMS } from './rooms.ts';
import { SERVING } from './serving.ts';
import { STORES } from './stores.ts';

export const OPTIONS = { ...SERVING, ...STORES, ...BACK_ENDS, ...MEDIA, ...ROOMS, ...BOUNDS };

export type OptionName = keyof typeof OPTIONS;

/** Options with every default filled in. */
export type Options = { [Name in OptionName]: z.infer<(typeof OPTIONS)[Name]['schema']> };
export type PartialOptions = { [Name in OptionName]?: Options[Name] | undefined };
