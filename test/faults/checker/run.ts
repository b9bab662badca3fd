/**
 * What a run has left behind, as the checker reads it. Nothing in this folder imports the server or the SDK: what it knows of
 * them is written here. All instants are milliseconds of the machine's monotonic clock, which all processes share.
 */

/** A room as one reply or one client had it. */
export interface Standing {
  readonly code: string;
  readonly ref: string;
  readonly rev: number;
  /** User ids, sorted. */
  readonly members: readonly string[];
}

/** What a signal of the clients says about itself. */
export interface Numbered {
  /** Counted by the sender for each receiver, from 1. */
  readonly n: number;
  readonly to: string;
  readonly ref: string;
}

/** One line of a client's log. The first five are what went over the wire, the others what the SDK told the application. */
export type ClientEntry = { readonly at: number; readonly client: string } & (
  | { kind: 'welcomed'; connection: number; userId: string; nodeId: string; room: Standing | null }
  | { kind: 'closed'; connection: number }
  | { kind: 'asked'; connection: number; request: number; name: string }
  | {
      kind: 'answered';
      connection: number;
      request: number;
      name: string;
      error: string | null;
      rev: number | null;
      room: Standing | null;
    }
  | {
      kind: 'pushed';
      connection: number;
      name: string;
      ref: string;
      rev: number;
      userId: string | null;
      reason: string | null;
    }
  | { kind: 'called'; call: number; name: string; userId: string | null; signal: Numbered | null }
  | { kind: 'settled'; call: number; name: string; error: string | null; room: Standing | null }
  | { kind: 'heard'; userId: string | null; from: string; signal: Numbered; inRoom: string }
  | { kind: 'stepped'; ref: string; rev: number; before: number }
  | { kind: 'ended'; ref: string; reason: string }
  | { kind: 'stands'; probe: number; state: string; userId: string | null; room: Standing | null }
);

export type EntryOf<Kind extends ClientEntry['kind']> = Extract<ClientEntry, { kind: Kind }>;

/** One fault of the timeline. */
export interface FaultSpan {
  readonly fault: string;
  /** `node-0`, `redis`, `database`, `clients`, or a link such as `node-0 redis`. */
  readonly target: string;
  readonly from: number;
  readonly until: number;
}

/** The rooms in Redis, read key by key. */
export interface RedisSample {
  readonly at: number;
  readonly probe: number;
  readonly rooms: readonly Standing[];
}

export interface AuditSample {
  readonly at: number;
  readonly free: number;
  readonly occupied: number;
  readonly cooling: number;
  readonly total: number;
  readonly disagreements: readonly string[];
}

/** What a process holds of the memory of the machine. */
export interface MemorySample {
  readonly at: number;
  /** The node and the id of its process: one that was restarted begins anew. */
  readonly process: string;
  readonly bytes: number;
}

export interface ProcessExit {
  readonly at: number;
  readonly process: string;
  readonly how: string;
  /** The test has caused it, and it went as it should. */
  readonly expected: boolean;
}

export interface FeedEntry {
  readonly id: string;
  readonly type: string;
  readonly ref: string | null;
  readonly rev: number | null;
  readonly userId: string | null;
  readonly reason: string | null;
}

export interface CallRecord {
  readonly ref: string;
  readonly ended: boolean;
  readonly complete: boolean;
  readonly seats: readonly { readonly userId: string; readonly reason: string | null }[];
}

/** What was left when the last client had gone. Instants are null where the limit came first. */
export interface Quiet {
  readonly lastClientAt: number;
  readonly emptyAt: number | null;
  readonly freeAt: number | null;
  /** Keys that were not there before the first client, and do not expire. */
  readonly strayKeys: readonly string[];
}

export interface Run {
  /** By time. */
  readonly clients: readonly ClientEntry[];
  readonly faults: readonly FaultSpan[];
  readonly samples: readonly RedisSample[];
  readonly audits: readonly AuditSample[];
  readonly exits: readonly ProcessExit[];
  readonly memory: readonly MemorySample[];
  readonly feed: readonly FeedEntry[];
  /** Ids of the events that the receiver has taken. */
  readonly webhooks: readonly string[];
  readonly calls: readonly CallRecord[];
  readonly quiet: Quiet | null;
  readonly limits: Limits;
}

export interface Limits {
  readonly graceMs: number;
  /** Within this time every room of a vanished client has ended. */
  readonly emptyWithinMs: number;
  /** And within this time after that its code is free. */
  readonly freeWithinMs: number;
}

export interface Violation {
  readonly law: string;
  readonly at: number;
  readonly text: string;
}

export type Law = (run: Run) => readonly Omit<Violation, 'law'>[];

export const entriesOf = <Kind extends ClientEntry['kind']>(run: Run, kind: Kind): EntryOf<Kind>[] =>
  run.clients.filter((entry): entry is EntryOf<Kind> => entry.kind === kind);

/** @returns the list of a key, made at the first use. */
export function listOf<Key, Value>(map: Map<Key, Value[]>, key: Key): Value[] {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made: Value[] = [];
  map.set(key, made);
  return made;
}
