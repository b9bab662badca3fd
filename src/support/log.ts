/** Logs are JSON lines. Codes and tokens appear in them as digests only. */
import { createHmac } from 'node:crypto';
import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

export function createLog(level: string, destination?: DestinationStream): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

/** Warnings and errors to standard error: what goes wrong is said, also to who has not thought of a log. */
export const createDefaultLog = (): Log => createLog('warn', pino.destination({ dest: 2, sync: true }));

/** For those who do not want to hear anything. */
export const silentLog: Log = pino({ level: 'silent' });

/**
 * Makes digests that tell equal values from different ones and nothing else. Keyed, because a plain hash of one of
 * 900,000 codes is found by trying them all.
 */
export function createDigest(key: string): (value: string) => string {
  return (value) => createHmac('sha256', key).update(value).digest('base64url').slice(0, 10);
}
