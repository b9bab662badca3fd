/** What every part of the server works with: its options, its stores, its sessions. Made once, in `compose.ts`. */
import type { Engine } from '../engine/engine.ts';
import type { NodeId } from '../protocol/ids.ts';
import type { CallRecords } from '../records/port.ts';
import type { ReferenceGenerator } from '../reference/port.ts';
import type { Pool } from '../room/pool.ts';
import type { Reattempts } from '../support/async/reattempts.ts';
import type { Clock } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type { Random } from '../support/random.ts';
import type { RunningWebhooks } from '../webhooks/start.ts';
import type { Faults } from './faults.ts';
import type { SignalCounter } from './monitoring/signal-counter.ts';
import type { Options } from './options/options.ts';
import type { RoomReads } from './room-reads.ts';
import type { DepartedSeats } from './sessions/departed-seats.ts';
import type { ReleasedCodes } from './sessions/released-codes.ts';
import type { SessionRegistry } from './sessions/session-registry.ts';
import type { Io } from './sessions/socket-types.ts';

export interface ServerContext {
  readonly options: Options;
  readonly nodeId: NodeId;
  /** All codes. */
  readonly pool: Pool;
  readonly engine: Engine;
  readonly io: Io;
  readonly registry: SessionRegistry;
  readonly released: ReleasedCodes;
  readonly departed: DepartedSeats;
  readonly reads: RoomReads;
  readonly signals: SignalCounter;
  /** What the store did not do when it was asked to. */
  readonly reattempts: Reattempts;
  readonly references: ReferenceGenerator;
  /** Only with a database. */
  readonly calls?: CallRecords;
  /** Only with an endpoint to send to. */
  readonly webhooks?: RunningWebhooks;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly faults: Faults;
  /** Keyed digest: lets a log tell equal values from different ones, and nothing else. */
  readonly digest: (value: string) => string;
}
