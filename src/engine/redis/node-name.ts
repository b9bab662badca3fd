/**
 * Keeps two nodes from having one name. What is meant for a node is sent to the channel of its name, so of two nodes each
 * would take what belongs to the other for done: kicked members would stay, sessions would not be replaced.
 *
 * A node that starts publishes a claim on that channel. When it is the only receiver, the name is its own. Otherwise a node
 * that holds the name answers; a connection that is dead, and that Redis has not noticed yet, does not.
 */
import { z } from 'zod';
import { backoffMs } from '../../support/backoff.ts';
import type { Clock } from '../../support/clock.ts';
import type { Log } from '../../support/log.ts';
import { NodeIdTaken } from '../engine.ts';

const claim = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('claim'), instance: z.string(), starting: z.boolean() }),
  z.object({ kind: z.literal('claimed'), instance: z.string(), to: z.string(), leftMs: z.number().optional() }),
]);
type Claim = z.infer<typeof claim>;
type Said = { kind: 'claimed'; to: string; leftMs?: number } | { kind: 'claim'; starting: boolean };

export interface NodeNameOptions {
  readonly nodeId: string;
  /** Differs between two processes of one name. */
  readonly instance: string;
  /** Publishes to the channel of the name. */
  readonly publish: (text: string) => void;
  /** Publishes, and gives the number of receivers. */
  readonly countReceivers: (text: string) => Promise<number>;
  /** How long a node that has the name may take to end: a process that is restarted follows its predecessor closely. */
  readonly waitMs: number;
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  readonly log: Pick<Log, 'error' | 'info'>;
}

/** Between two claims of a node that starts. */
const AGAIN = { firstMs: 50, maxMs: 500 };
/** One conflict is several messages, and one line of the log. */
const QUIET_MS = 60_000;

const SILENT =
  'another connection receives what is meant for this node and does not answer: it is dead, or a node of an earlier version has the same nodeId';
const LEAVING = 'another node has this nodeId and is ending: it is waited for';
const SHARED = 'another node has the same nodeId: what is meant for one does not reach the other; give each its own';

export class NodeName {
  readonly #options: NodeNameOptions;
  #holds = false;
  /** Who has answered the last claim of this node: one that has the name, or one that has to wait for this node. */
  #heard: 'nobody' | 'holder' | 'follower' = 'nobody';
  /** Until when this node has ended, once it leaves. */
  #leavesBy: number | undefined;
  /** Until when a holder that leaves has ended, as it has answered. */
  #freeBy = Number.NEGATIVE_INFINITY;
  #quietUntil = Number.NEGATIVE_INFINITY;

  constructor(options: NodeNameOptions) {
    this.#options = options;
  }

  /**
   * A holder that leaves is waited for until it has ended, and `waitMs` more.
   *
   * @throws NodeIdTaken when another node has the name, and still has it after the wait.
   */
  async take(): Promise<void> {
    const { clock, waitMs, countReceivers, nodeId, log } = this.#options;
    const began = clock.monotonic();
    for (let attempt = 0; ; attempt += 1) {
      this.#heard = 'nobody';
      const receivers = await countReceivers(this.#write({ kind: 'claim', starting: true }));
      if (receivers <= 1) break;
      await new Promise<void>((resolve) => void clock.after(backoffMs(attempt, AGAIN), resolve));
      if (clock.monotonic() < Math.max(began, this.#freeBy) + waitMs) continue;
      const answered = this.#answered();
      if (answered === 'holder') throw new NodeIdTaken(nodeId);
      if (answered === 'nobody') log.error({ nodeId }, SILENT);
      break;
    }
    this.#holds = true;
  }

  /** To be called when the connection to the channel was lost and is back: another node may have taken the name since. */
  takeAgain(): void {
    if (this.#holds) this.#say({ kind: 'claim', starting: false });
  }

  /** From now on this node tells one that claims its name to wait. @param withinMs how long the end of this node may take. */
  leave(withinMs: number): void {
    this.#leavesBy ??= this.#options.clock.monotonic() + withinMs;
  }

  /** @returns whether the message was about the name. */
  receive(text: string): boolean {
    const heard = parse(text);
    if (heard === undefined) return false;
    if (heard.instance !== this.#options.instance) this.#hear(heard);
    return true;
  }

  /** A method: the compiler takes the field for what `take` has assigned, although messages change it meanwhile. */
  #answered() {
    return this.#heard;
  }

  #hear(heard: Claim): void {
    const { instance, nodeId, log, clock } = this.#options;
    if (heard.kind === 'claimed' && heard.to !== instance) return;
    const starting = heard.kind === 'claim' && heard.starting;
    if (!this.#holds) {
      // Of nodes that start at the same instant, the one with the lesser instance goes on.
      const precedes = starting && instance < heard.instance;
      this.#heard = precedes && this.#heard !== 'holder' ? 'follower' : 'holder';
      if (heard.kind === 'claimed' && heard.leftMs !== undefined) this.#waitFor(heard.leftMs);
      if (precedes) this.#say({ kind: 'claimed', to: heard.instance });
      return;
    }
    if (heard.kind === 'claim') this.#say({ kind: 'claimed', to: heard.instance, ...this.#leftMs() });
    if (starting || clock.monotonic() < this.#quietUntil) return;
    this.#quietUntil = clock.monotonic() + QUIET_MS;
    log.error({ nodeId }, SHARED);
  }

  /** The first answer counts: one that is told again and again would have this node wait for ever. */
  #waitFor(leftMs: number): void {
    const { clock, nodeId, log } = this.#options;
    if (this.#freeBy !== Number.NEGATIVE_INFINITY) return;
    this.#freeBy = clock.monotonic() + leftMs;
    log.info({ nodeId, leftMs }, LEAVING);
  }

  #leftMs(): { leftMs?: number } {
    if (this.#leavesBy === undefined) return {};
    return { leftMs: Math.max(0, this.#leavesBy - this.#options.clock.monotonic()) };
  }

  #say(what: Said): void {
    this.#options.publish(this.#write(what));
  }

  #write(what: Said): string {
    return JSON.stringify({ ...what, instance: this.#options.instance });
  }
}

function parse(text: string): Claim | undefined {
  try {
    return claim.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
