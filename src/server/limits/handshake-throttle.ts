/**
 * Rate limit of failed connections, by address. A connection that is ended for a flood costs its client nothing if it may
 * come back at once: the handshakes alone would keep the process busy. So each connection that broke the protocol, or ended
 * without a handshake, counts against its address; one with too many has its next handshakes held back for a moment.
 * Handshakes that succeed are never limited here: a class behind one address comes back together after a restart.
 */
import type { Clock, Stop } from '../../support/clock.ts';
import type { Random } from '../../support/random.ts';
import { Generations } from './generations.ts';

/** How much a connection counts against its address. A flood costs the server ten times as much as a handshake. */
const FAULT = { ended: 1, flooded: 10 } as const;
export type Fault = keyof typeof FAULT;

const FAULTS_PER_SECOND = 20;
/** Faults that are free at first, and again after ten seconds without any. */
const FREE_FAULTS = 200;
const FAULT_MS = 1000 / FAULTS_PER_SECOND;
const FORGIVEN_AFTER_MS = FREE_FAULTS * FAULT_MS;
/** Short enough for the clients of others behind the same address. */
const MAX_HOLD_MS = 1000;
/** Handshakes of one address that are held at the same time. */
const MAX_HELD = 100;

/** A handshake that may have to wait. */
export interface Handshake {
  /** Whether it belongs to a session that has been admitted: it is refused only when all that wait are of that kind. */
  readonly isOfSession: boolean;
  readonly go: () => void;
  readonly refuse: () => void;
}

interface Queue {
  /** In the order of `until`. */
  readonly held: { readonly handshake: Handshake; readonly until: number }[];
  stop: Stop;
}

export class HandshakeThrottle {
  private readonly clock: Clock;
  private readonly random: Random;
  /** Until when an address has to wait. In the past for one with free faults left. */
  private readonly waitUntil: Generations<number>;
  private readonly queues = new Map<string, Queue>();

  constructor(clock: Clock, random: Random) {
    this.clock = clock;
    this.random = random;
    this.waitUntil = new Generations(clock, FORGIVEN_AFTER_MS + MAX_HOLD_MS);
  }

  recordFault(address: string, fault: Fault): void {
    const now = this.clock.monotonic();
    const until = Math.max(this.waitOf(address), now - FORGIVEN_AFTER_MS) + FAULT[fault] * FAULT_MS;
    this.waitUntil.set(address, Math.min(until, now + MAX_HOLD_MS));
  }

  /** Calls `go` now, or when the address has waited, or `refuse` when too many wait. @returns whether `go` was called now. */
  pass(address: string, handshake: Handshake): boolean {
    const until = this.waitOf(address);
    if (until <= this.clock.monotonic()) {
      handshake.go();
      return true;
    }
    const queue = this.queues.get(address) ?? { held: [], stop: () => {} };
    queue.held.push({ handshake, until });
    if (queue.held.length === 1) {
      this.queues.set(address, queue);
      this.startTimer(address, queue);
    } else if (queue.held.length > MAX_HELD) this.refuseOne(queue);
    return false;
  }

  /** Refuses all that wait, and ends their timers. */
  close(): void {
    for (const { held, stop } of this.queues.values()) {
      stop();
      for (const { handshake } of held) handshake.refuse();
    }
    this.queues.clear();
  }

  private waitOf(address: string): number {
    return this.waitUntil.get(address) ?? Number.NEGATIVE_INFINITY;
  }

  private startTimer(address: string, queue: Queue): void {
    const [first] = queue.held;
    if (first === undefined) {
      this.queues.delete(address);
      return;
    }
    queue.stop = this.clock.after(Math.max(0, first.until - this.clock.monotonic()), () => {
      const now = this.clock.monotonic();
      const stillHeld = queue.held.findIndex(({ until }) => until > now);
      const due = queue.held.splice(0, stillHeld === -1 ? queue.held.length : stillHeld);
      this.startTimer(address, queue);
      for (const { handshake } of due) handshake.go();
    });
  }

  /**
   * Refuses one of those that wait, by chance, and not the last: a client that keeps the queue of its address full would
   * keep everybody else of that address out.
   */
  private refuseOne({ held }: Queue): void {
    const start = this.random.integer(held.length);
    const isStranger = ({ handshake }: Queue['held'][number]) => !handshake.isOfSession;
    const after = held.findIndex((one, index) => index >= start && isStranger(one));
    const chosen = after === -1 ? held.findIndex(isStranger) : after;
    const [refused] = held.splice(chosen, 1);
    refused?.handshake.refuse();
  }
}
