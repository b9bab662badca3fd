/** A log that tests read. */
import { createLog, type Log } from '../../src/support/log.ts';

export interface Listening {
  readonly log: Log;
  /** In the order in which it was said: level, text and, where it was about an event, which. Debugging is left out. */
  readonly lines: readonly string[];
  /** The errors that those were about, where they were. */
  readonly causes: readonly unknown[];
}

export function listening(): Listening {
  const lines: string[] = [];
  const causes: unknown[] = [];
  const say =
    (level: string) =>
    (about: unknown, text?: string): void => {
      const { event, err }: { event?: string; err?: unknown } = Object(about);
      if (err !== undefined) causes.push(err);
      const said = typeof about === 'string' ? about : (text ?? '');
      lines.push([level, said, ...(event === undefined ? [] : [event])].join(' '));
    };
  const log = { debug: () => {}, info: say('info'), warn: say('warn'), error: say('error') };
  // The overloads of pino: an object and a text, or a text alone.
  return { log: log as Log, lines, causes };
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** The log as it is written, with all of its fields. */
export function logLines(): { readonly log: Log; readonly lines: () => LogLine[] } {
  const written: string[] = [];
  const log = createLog('debug', { write: (line) => void written.push(line) });
  return { log, lines: () => written.map((line) => JSON.parse(line)) };
}
