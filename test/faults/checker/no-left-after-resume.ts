/** Nobody is told `member:left` with the reason `lost` about a member that is connected and has its seat. */
import { type EntryOf, entriesOf, type Law, listOf, type Run, type Standing } from './run.ts';

/** A reply is on its way for a moment, and so is the event. */
const MARGIN_MS = 1_000;

interface Stay {
  readonly connection: number;
  readonly ref: string;
  readonly since: number;
  until: number;
  /** When the client last heard anything in it: a connection to a frozen node is there and says nothing. */
  heardAt: number;
}

export const noLeftAfterResume: Law = (run) => {
  const stays = staysOf(run);
  const told = new Map<string, EntryOf<'pushed'>>();
  for (const push of entriesOf(run, 'pushed')) {
    if (push.name !== 'member:left' || push.reason !== 'lost') continue;
    const key = `${push.ref} ${push.userId} ${push.rev}`;
    if (!told.has(key)) told.set(key, push);
  }
  return [...told.values()].flatMap(({ at, ref, userId, client }) => {
    const stay = (stays.get(userId ?? '') ?? []).find(
      (it) =>
        it.ref === ref && it.since < at - MARGIN_MS && it.until > at - MARGIN_MS / 2 && it.heardAt > at - MARGIN_MS,
    );
    if (stay === undefined) return [];
    const seconds = ((at - stay.since) / 1_000).toFixed(1);
    return [{ at, text: `${client} was told that ${userId} left ${ref} (lost), ${seconds} s after it had its seat` }];
  });
};

/** By user: the times in which it had a connection and a seat, by its own log. */
function staysOf(run: Run): Map<string, Stay[]> {
  const stays = new Map<string, Stay[]>();
  const users = new Map<string, string>();
  const open = new Map<string, Stay>();
  const end = (connection: string, at: number) => {
    const stay = open.get(connection);
    if (stay) stay.until = at;
    open.delete(connection);
  };
  for (const entry of run.clients) {
    if (!('connection' in entry)) continue;
    const id = `${entry.client} ${entry.connection}`;
    if (entry.kind === 'welcomed') users.set(id, entry.userId);
    if (entry.kind === 'closed') end(id, entry.at);
    if (entry.kind === 'asked' && MOVES.has(entry.name)) end(id, entry.at);
    if (entry.kind === 'asked' || entry.kind === 'closed') continue;
    const stay = open.get(id);
    if (stay) stay.heardAt = entry.at;
    const room = seatIn(entry);
    if (room === null) continue;
    const begun = { connection: entry.connection, ref: room.ref, since: entry.at, until: Infinity, heardAt: entry.at };
    end(id, entry.at);
    open.set(id, begun);
    listOf(stays, users.get(id) ?? '').push(begun);
  }
  return stays;
}

/** The room in which this says that the client has a seat. */
function seatIn(entry: EntryOf<'welcomed' | 'pushed' | 'answered'>): Standing | null {
  if (entry.kind === 'pushed') return null;
  return entry.kind === 'welcomed' || SEATS.has(entry.name) ? entry.room : null;
}

/** After these a client may be in another room, or in none. */
const MOVES: ReadonlySet<string> = new Set(['room:create', 'room:join', 'room:leave', 'room:close']);
const SEATS: ReadonlySet<string> = new Set(['room:create', 'room:join']);
