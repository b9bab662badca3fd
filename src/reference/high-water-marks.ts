/** Remembers in the ledger the highest reference that a record carries; nobody waits for it. */
import type { Clock, Stop } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type { HighWaterMark, Ledger } from './ledger.ts';

export interface HighWaterMarks {
  note(mark: HighWaterMark): void;
  /** Writes what is not written yet. */
  close(): Promise<void>;
}

/** Many records make one write: with SQLite the process stands still until it is on the disk. */
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
      // The next record of the year says as much and more.
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
