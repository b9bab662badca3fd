/**
 * A node that has lost the store while other nodes have not is of no use to its clients: their seats would end with their
 * leases. So after two thirds of a lease it _fences_ itself: it asks its clients to move, one after the other. They
 * resume on another node, within their leases. A store that has failed for all nodes is no reason: nobody would be better
 * off elsewhere. So this node asks the others over HTTP, at the addresses that they have announced while there was a store.
 */
import type { Stop } from '../../support/clock.ts';
import { httpStatus } from '../../support/http-status.ts';
import { addressesOf, type Listening } from '../../support/own-addresses.ts';
import { startTogether } from '../../support/start-together.ts';
import type { ServerContext } from '../context.ts';
import { askingMs, askToGo } from './drop-session.ts';

/** Of a lease: without the store for so long, a node asks the others, again and again. */
const ASK_AFTER = 1 / 3;
/** Of a lease: and for so long, it moves its clients to those that have the store. */
const FENCE_AFTER = 2 / 3;
/**
 * After an outage for all, nodes connect to the store again one after the other, within a second. So the others must have
 * had it for longer.
 */
const CONFIRM_MS = 2_000;
/** A link that swallows everything is noticed so late. One that breaks is noticed at once, and the node then asks earlier. */
const SILENT_MS = 2_500;
/** Of a lease: over this time the clients are asked to go, at most. The rest is for the last renewal and for coming back. */
const SPREAD = 1 / 12;
/** Of a lease: between two looks at the store. */
const LOOK = 1 / 60;
const MAX_LOOK_MS = 1_000;
/** Of a lease: between two announcements. */
const ANNOUNCE = 1 / 6;
const PEER_MS = 1_500;

/** @param server the HTTP server of this node: it may begin to listen later, or never. */
export function startFence(context: ServerContext, server: Listening): Stop {
  const { clock, options } = context;
  const fence = new Fence(context);
  return startTogether([
    () => () => fence.stop(),
    () => clock.every(Math.min(options.userTtlMs * LOOK, MAX_LOOK_MS), () => fence.look()),
    () => announceAgainAndAgain(context, server),
  ]);
}

class Fence {
  readonly #context: ServerContext;
  #lostAt: number | undefined;
  /** Since when others have said that they have the store, without one that said that none has. */
  #othersSince: number | undefined;
  #isAsking = false;
  #isFenced = false;
  #isStopped = false;

  constructor(context: ServerContext) {
    this.#context = context;
  }

  look(): void {
    const { engine, clock, options, log } = this.#context;
    if (engine.health().state !== 'down') {
      if (this.#isFenced) log.warn('this node reaches the store again and is back in service');
      this.#lostAt = undefined;
      this.#othersSince = undefined;
      this.#isFenced = false;
      return;
    }
    this.#lostAt ??= clock.monotonic() - SILENT_MS;
    const isDue = clock.monotonic() - this.#lostAt >= options.userTtlMs * ASK_AFTER;
    if (isDue && !this.#isFenced && !this.#isAsking) void this.#ask();
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #ask(): Promise<void> {
    const { engine, clock, options, log } = this.#context;
    this.#isAsking = true;
    const statuses = await statusesOf(engine.fanout.peers());
    this.#isAsking = false;
    if (!this.#isLost || this.#lostAt === undefined) return;
    const now = clock.monotonic();
    const anyIsReady = statuses.includes(200);
    // Those that have not answered in time say nothing: they may be busy.
    if (anyIsReady) this.#othersSince ??= now;
    else if (statuses.length > 0) this.#othersSince = undefined;
    if (!anyIsReady || this.#othersSince === undefined || now - this.#othersSince < CONFIRM_MS) return;
    if (now - this.#lostAt < options.userTtlMs * FENCE_AFTER) return;
    this.#isFenced = true;
    log.warn('this node cannot reach the store and others can: its clients are asked to connect to them');
    moveAll(this.#context, () => this.#isLost);
  }

  get #isLost(): boolean {
    return this.#lostAt !== undefined && !this.#isStopped;
  }
}

function announceAgainAndAgain({ engine, clock, options }: ServerContext, server: Listening): Stop {
  return clock.every(options.userTtlMs * ANNOUNCE, () => {
    const addresses = options.nodeUrl === undefined ? addressesOf(server) : [options.nodeUrl];
    if (addresses.length > 0) engine.fanout.announce(addresses);
  });
}

async function statusesOf(peers: readonly string[]): Promise<number[]> {
  const statuses = await Promise.all(peers.map((address) => httpStatus(`${address}/readyz`, PEER_MS)));
  return statuses.filter((status) => status !== undefined);
}

/** @param isFenced whether the others still have to go. */
function moveAll(context: ServerContext, isFenced: () => boolean): void {
  const { registry, clock, options } = context;
  const sessions = [...registry.all()];
  const pauseMs = askingMs(sessions.length, options.userTtlMs * SPREAD) / sessions.length;
  for (const [index, session] of sessions.entries()) {
    clock.after(index * pauseMs, () => {
      if (isFenced() && session.connected) askToGo(context, session);
    });
  }
}
