/**
 * Counts the signals that this node has relayed, for the call records. Counting only raises a number in memory; the sums
 * are reported once per tick, and for a room that leaves this node at once.
 */
import type { RoomRef } from '../../protocol/ids.ts';

type Report = (ref: RoomRef, signals: number) => void;

export class SignalCounter {
  private readonly counts = new Map<RoomRef, number>();
  private readonly report: Report | undefined;

  /** @param report receives sums; without it, as without call records, nothing is counted. */
  constructor(report: Report | undefined) {
    this.report = report;
  }

  count(ref: RoomRef): void {
    if (this.report !== undefined) this.counts.set(ref, (this.counts.get(ref) ?? 0) + 1);
  }

  /** Reports what has been counted for one room since the last report. */
  flushRoom(ref: RoomRef): void {
    const signals = this.counts.get(ref);
    if (signals === undefined) return;
    this.counts.delete(ref);
    this.report?.(ref, signals);
  }

  flush(): void {
    for (const ref of this.counts.keys()) this.flushRoom(ref);
  }
}
