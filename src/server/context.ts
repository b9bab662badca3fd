/** What every part of the server works with. Made once, in `foundations.ts`; nothing here is global. */
import type { Engine } from '../engine/engine.ts';
import type { NodeId } from '../protocol/ids.ts';
import type { CallRecords } from '../records/port.ts';
import type { ReferenceGenerator } from '../reference/port.ts';
import type { Clock } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type { Random } from '../support/random.ts';
import type { RunningWebhooks } from '../webhooks/start.ts';
import type { Options } from './options/options.ts';
import type { Io } from './sessions/session.ts';
import type { SessionRegistry } from './sessions/session-registry.ts';

export interface ServerContext {
  readonly options: Options;
  readonly nodeId: NodeId;
  readonly engine: Engine;
  readonly io: Io;
  readonly registry: SessionRegistry;
  readonly references: ReferenceGenerator;
  /** Where a database keeps them. */
  readonly calls?: CallRecords;
  /** Where there is somebody to tell. */
  readonly webhooks?: RunningWebhooks;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Tells equal values from different ones in a log, and nothing else. */
  readonly digest: (value: string) => string;
}
