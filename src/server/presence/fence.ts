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
import type { Session } from '../sessions/session.ts';
import { withdrawSession } from './drop-session.ts';

/** Of a lease: without the store for so long, a node asks the others. */
const ASK_AFTER = 2 / 3;
/** A link that swallows everything is noticed so late. One that breaks is noticed at once, and the node then asks earlier. */
const SILENT_MS = 2_500;
/** Of a lease: over this time the clients are asked to go. The rest is for the last renewal and for coming back. */
const SPREAD = 1 / 12;
/** Of a lease: between two looks at the store. */
const LOOK = 1 / 60;
const MAX_LOOK_MS = 1_000;
/** Of a lease: between two announcements. */
const ANNOUNCE = 1 / 6;
const PEER_MS = 1_500;
const RECONNECT_MS = 500;

/** @param server the HTTP server of this node: it may begin to listen later, or never. */
export function startFence(context: ServerContext, server: Listening): Stop {
  const { engine, clock, log, options } = context;
  const fence = { lostAt: undefined as number | undefined, fenced: false, asking: false, stopped: false };
  const ask = async (): Promise<void> => {
    fence.asking = true;
    const better = await anyIsReady(engine.fanout.peers());
    fence.asking = false;
    if (!better || fence.lostAt === undefined || fence.stopped) return;
    fence.fenced = true;
    log.warn('this node cannot reach the store and others can: its clients are asked to connect to them');
    moveAll(context, () => fence.lostAt !== undefined && !fence.stopped);
  };
  const look = (): void => {
    if (engine.health().state !== 'down') {
      if (fence.fenced) log.warn('this node reaches the store again and is back in service');
      Object.assign(fence, { lostAt: undefined, fenced: false });
      return;
    }
    fence.lostAt ??= clock.monotonic() - SILENT_MS;
    const isDue = clock.monotonic() - fence.lostAt >= options.userTtlMs * ASK_AFTER;
    if (isDue && !fence.fenced && !fence.asking) void ask();
  };
  return startTogether([
    () => () => {
      fence.stopped = true;
    },
    () => clock.every(Math.min(options.userTtlMs * LOOK, MAX_LOOK_MS), look),
    () => announceAgainAndAgain(context, server),
  ]);
}

function announceAgainAndAgain({ engine, clock, options }: ServerContext, server: Listening): Stop {
  return clock.every(options.userTtlMs * ANNOUNCE, () => {
    const addresses = addressesOf(server);
    if (addresses.length > 0) engine.fanout.announce(addresses);
  });
}

async function anyIsReady(peers: readonly string[]): Promise<boolean> {
  const statuses = await Promise.all(peers.map((address) => httpStatus(`${address}/readyz`, PEER_MS)));
  return statuses.includes(200);
}

/** @param isFenced whether the others still have to go. */
function moveAll(context: ServerContext, isFenced: () => boolean): void {
  const { registry, clock, options } = context;
  const sessions = [...registry.all()];
  const pauseMs = (options.userTtlMs * SPREAD) / sessions.length;
  for (const [index, session] of sessions.entries()) {
    clock.after(index * pauseMs, () => {
      if (isFenced() && session.connected) move(context, session);
    });
  }
}

function move(context: ServerContext, session: Session): void {
  const { random, clock } = context;
  withdrawSession(context, session);
  session.push('server:drain', { reconnectInMs: random.integer(RECONNECT_MS) });
  // A connection that is closed while its last push is being written loses it: one turn of the loop writes it out.
  clock.nextTurn(() => session.drop());
}
