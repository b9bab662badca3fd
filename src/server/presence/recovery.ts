/**
 * Follows the epochs of the shards, see `room/epoch.ts`. In a new one the store has lost its latest state, or all of it: this
 * node visits all shards at once and restores in each what it holds, and the records of its users are written again.
 */
import type { Outcome, Tick } from '../../room/commands.ts';
import { SHARDS } from '../../room/pool.ts';
import type { Stop } from '../../support/clock.ts';
import { startTogether } from '../../support/start-together.ts';
import type { ServerContext } from '../context.ts';
import { OtherNodes, type WaitedFor } from './other-nodes.ts';
import { refreshUsers } from './refresh-idle-users.ts';
import { coolAgain, leaveAgain, restoreRooms } from './restore-rooms.ts';

/** Between two visits of a shard that recovers, and between two looks at the connection to the store. */
const REVISIT_MS = 1000;
/** Visits after the connection is back are spread over this span: all nodes are back at the same instant. */
const SPREAD_MS = 300;

export interface Step {
  /** Whether the shard is to be ticked again at once. */
  readonly again: boolean;
  /** For the next tick: this node has restored what it holds, and waits for these. */
  readonly waitedFor?: WaitedFor;
}

const DONE: Step = { again: false };
const AGAIN: Step = { again: true };

type Ticked = Outcome<Tick>;

export class Recovery {
  readonly #context: ServerContext;
  readonly #visit: (shard: number) => Promise<void>;
  readonly #others: OtherNodes;
  /** Shards that recover, or in which something is still to be restored. */
  readonly #open = new Set<number>();
  #alarmedAt = Number.NEGATIVE_INFINITY;
  #wasDown = false;

  constructor(context: ServerContext, visit: (shard: number) => Promise<void>) {
    this.#context = context;
    this.#visit = visit;
    this.#others = new OtherNodes(context);
  }

  start(): Stop {
    const { clock, engine, options } = this.#context;
    engine.onBehind((shard) => void this.#visit(shard));
    const look = () => void this.#others.look().catch(() => {}); // asked again when it matters
    return startTogether([
      () => clock.every(REVISIT_MS, () => this.#revisit()),
      () => clock.every(options.tickMs, look),
    ]);
  }

  /**
   * After each tick of a shard.
   *
   * @param hasTold whether that tick said that this node has restored what it holds
   * @throws StoreUnavailable when something has not been restored: the next visit tries again
   */
  async follow(shard: number, ticked: Ticked, hasTold: boolean): Promise<Step> {
    const { epoch, recoveringMs } = ticked;
    const { registry } = this.#context;
    const known = registry.epochOf(shard);
    if (known !== undefined && known !== epoch) this.#onNewEpoch();
    if (recoveringMs > 0 || (known ?? epoch) !== epoch) this.#open.add(shard);
    if (!this.#open.has(shard)) {
      registry.setEpoch(shard, epoch);
      learnRooms(this.#context, ticked);
      return DONE;
    }
    await restoreRooms(this.#context, shard, epoch);
    if (known !== epoch) {
      await coolAgain(this.#context, shard);
      await leaveAgain(this.#context, shard);
    }
    registry.setEpoch(shard, epoch);
    if (recoveringMs > 0) return hasTold ? DONE : { again: true, waitedFor: await this.#others.waitedFor() };
    this.#open.delete(shard);
    return AGAIN;
  }

  /** The other shards are likely to be in a new epoch too. At most once in a while: each shard tells it. */
  #onNewEpoch(): void {
    const { clock, log } = this.#context;
    if (clock.monotonic() - this.#alarmedAt < REVISIT_MS) return;
    this.#alarmedAt = clock.monotonic();
    log.warn('the store has lost its latest state: this node restores what it holds');
    for (let shard = 0; shard < SHARDS; shard += 1) void this.#visit(shard);
    void refreshUsers(this.#context, Number.POSITIVE_INFINITY);
  }

  #revisit(): void {
    const isDown = this.#context.engine.health().state === 'down';
    if (this.#wasDown && !isDown) this.#reassert();
    this.#wasDown = isDown;
    if (!isDown) for (const shard of this.#open) void this.#visit(shard);
  }

  /** The store answers again: what could not be renewed meanwhile is renewed now. */
  #reassert(): void {
    const { clock, random } = this.#context;
    for (let shard = 0; shard < SHARDS; shard += 1)
      clock.after(random.integer(SPREAD_MS), () => void this.#visit(shard));
    void refreshUsers(this.#context, Number.POSITIVE_INFINITY);
  }
}

/** What a tick tells of rooms that need no restore. */
function learnRooms({ registry }: ServerContext, { epoch, infos }: Ticked): void {
  for (const info of infos) {
    const room = registry.room(info.ref);
    if (room?.epoch === epoch) room.kept.learnWhole(info);
  }
}
