/** What the run itself did and saw: faults with their times, ends of processes, and a line for each on the terminal. */
import type { FaultSpan, ProcessExit } from '../checker/run.ts';
import { machineMs } from '../clients/journal.ts';

export type Say = (line: string) => void;

export class Timeline {
  readonly faults: FaultSpan[] = [];
  readonly exits: ProcessExit[] = [];
  readonly #say: Say;
  readonly #startedAt = machineMs();

  constructor(say: Say) {
    this.#say = say;
  }

  /** Seconds since the beginning, as they stand in front of every line. */
  secondsOf(at: number): string {
    return ((at - this.#startedAt) / 1_000).toFixed(1).padStart(6);
  }

  tell(line: string): void {
    this.#say(`${this.secondsOf(machineMs())} s  ${line}`);
  }

  /** @returns the end of the fault. */
  begin(fault: string, target: string): () => void {
    const from = machineMs();
    // Until its end is known it lasts.
    const index = this.faults.push({ fault, target, from, until: Number.POSITIVE_INFINITY }) - 1;
    this.tell(`${fault} of ${target}`);
    return () => {
      const until = machineMs();
      this.faults[index] = { fault, target, from, until };
      this.tell(`end of ${fault} of ${target}, after ${Math.round(until - from)} ms`);
    };
  }

  exited(process: string, how: string, expected: boolean): void {
    this.exits.push({ at: machineMs(), process, how, expected });
    if (!expected) this.tell(`${process} ENDED: ${how}`);
  }
}
