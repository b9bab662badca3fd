/** Highest reference found in application records, per prefix and year: kept in the ledger, written in the background. */
import type { Clock, Stop } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type { HighWaterMark, Ledger } from './ledger.ts';

export interface HighWaterMarks {
  note(mark: HighWaterMark): void;
  /** Writes the marks that are not written yet. */
  close(): Promise<void>;
}

/** Delay, so that many records make one write: with SQLite a write blocks the process until it is on disk. */
const WRITE_AFTER_MS = 5_000;

export function createHighWaterMarks(ledger: Ledger, clock: Clock, log: Log): HighWaterMarks {
  let highest = new Map<string, HighWaterMark>();
  let stop: Stop | undefined;

  const write = async (): Promise<void> => {
    stop?.();
    stop = undefined;
    const marks = [...highest.values()];
    if (marks.length === 0) return;
    highest = new Map();
    try {
      await ledger.record(marks);
    } catch (error) {
      // Dropped: the next record of the year has a higher mark.
      log.debug({ err: error }, 'the highest references of records were not written');
    }
  };

  return {
    note(mark) {
      const key = `${mark.prefix}${mark.year}`;
      const known = highest.get(key);
      if (known !== undefined && known.sequence >= mark.sequence) return;
      highest.set(key, mark);
      stop ??= clock.after(WRITE_AFTER_MS, () => void write());
    },
    close: write,
  };
}
