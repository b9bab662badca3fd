/** Logs are JSON lines. Codes and tokens appear in them as digests only. */
import { createHmac } from 'node:crypto';
import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

export function createLog(level: string, destination?: DestinationStream): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

/** Warnings and errors to standard error: the default when no log is configured. */
export const createDefaultLog = (): Log => createLog('warn', pino.destination({ dest: 2, sync: true }));

/** Logs nothing. */
export const silentLog: Log = pino({ level: 'silent' });

/**
 * Digests for logs: equal values have equal digests, and nothing else can be learnt from them. Keyed, because a plain hash
 * of one of 900,000 codes is found by trying them all.
 */
export function createDigest(key: string): (value: string) => string {
  return (value) => createHmac('sha256', key).update(value).digest('base64url').slice(0, 10);
}
