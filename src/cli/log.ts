/** Logs go to standard error: JSON lines for machines, readable lines on a terminal. */
import { pino } from 'pino';
import pretty from 'pino-pretty';
import { createLog, type Log } from '../support/log.ts';

export function createCliLog(level: string): Log {
  const isTerminal = process.stderr.isTTY === true;
  return createLog(level, isTerminal ? pretty({ destination: 2, ignore: 'pid,hostname' }) : pino.destination(2));
}
