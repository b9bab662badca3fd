/**
 * Rate limit of failed connections, by address. A connection that is ended for a flood costs its client nothing if it may
 * come back at once: the handshakes alone would keep the process busy. So each connection that broke the protocol, or ended
 * without a handshake, counts against its address; one with too many has its next handshakes held back for a moment.
 * Handshakes that succeed are never limited here: a class behind one address comes back together after a restart.
 */
import type { Clock } from '../../support/clock.ts';

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
/** Handshakes of one address that are held at the same time; more are refused. */
const MAX_HELD = 100;
/** Memory bound: when there are more addresses, all are forgiven. */
const MAX_ADDRESSES = 50_000;

export class HandshakeThrottle {
  private readonly clock: Clock;
  /** Until when an address has to wait. In the past for one with free faults left. */
  private readonly waitUntil = new Map<string, number>();
  private readonly held = new Map<string, number>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  recordFault(address: string, fault: Fault): void {
    const now = this.clock.monotonic();
    const until = Math.max(this.waitOf(address), now - FORGIVEN_AFTER_MS) + FAULT[fault] * FAULT_MS;
    if (this.waitUntil.size >= MAX_ADDRESSES) this.waitUntil.clear();
    this.waitUntil.set(address, Math.min(until, now + MAX_HOLD_MS));
  }

  /** Calls `go` now, or when the address has waited. @returns whether it will be called: too many may be waiting. */
  pass(address: string, go: () => void): boolean {
    const holdMs = this.waitOf(address) - this.clock.monotonic();
    if (holdMs <= 0) {
      go();
      return true;
    }
    const held = this.held.get(address) ?? 0;
    if (held >= MAX_HELD) return false;
    this.held.set(address, held + 1);
    this.clock.after(holdMs, () => {
      this.release(address);
      go();
    });
    return true;
  }

  private waitOf(address: string): number {
    return this.waitUntil.get(address) ?? Number.NEGATIVE_INFINITY;
  }

  private release(address: string): void {
    const held = (this.held.get(address) ?? 1) - 1;
    if (held > 0) this.held.set(address, held);
    else this.held.delete(address);
  }
}
