/**
 * A client that has missed an event reads the room: a gap in the revisions that came to it is followed by a snapshot. And the
 * revision that the SDK shows never runs backwards.
 */
import { logEndsOf } from './log-ends.ts';
import type { ClientEntry, EntryOf, Law, Standing } from './run.ts';

/** The SDK waits for a late event, then reads; a read that fails is repeated, and Redis may be away meanwhile. */
const SNAPSHOT_WITHIN_MS = 15_000;

interface Known {
  ref: string;
  rev: number;
  /** Revisions that came ahead of their turn. */
  readonly ahead: Set<number>;
  gapAt: number | null;
}

export const revisionsInOrder: Law = (run) => {
  const known = new Map<string, Known>();
  const found: { at: number; text: string }[] = [];
  const endOf = logEndsOf(run);
  const report = (client: string, now: number) => {
    const { ref, rev, gapAt } = known.get(client) ?? {};
    if (gapAt == null || now - gapAt < SNAPSHOT_WITHIN_MS) return;
    found.push({ at: gapAt, text: `${client} missed what followed revision ${rev} of ${ref}, and no snapshot came` });
  };
  for (const entry of run.clients) {
    if (entry.kind === 'stepped' && entry.rev < entry.before)
      found.push({
        at: entry.at,
        text: `${entry.client} went from revision ${entry.before} of ${entry.ref} to ${entry.rev}`,
      });
    if (entry.kind === 'stands') continue;
    if (leaves(entry)) {
      report(entry.client, entry.at);
      known.delete(entry.client);
    }
    const room = snapshotIn(entry);
    if (room !== null) {
      report(entry.client, entry.at);
      known.set(entry.client, since(room, known.get(entry.client), entry.at));
    } else follow(known.get(entry.client), entry);
  }
  for (const client of known.keys()) report(client, endOf(client));
  return found;
};

const leaves = (entry: ClientEntry): boolean =>
  entry.kind === 'closed' ||
  entry.kind === 'ended' ||
  (entry.kind === 'pushed' && entry.name === 'room:closed') ||
  (entry.kind === 'asked' &&
    (entry.name === 'room:leave' || entry.name === 'room:join' || entry.name === 'room:create'));

const snapshotIn = (entry: ClientEntry): Standing | null =>
  entry.kind === 'welcomed' || entry.kind === 'answered' ? entry.room : null;

/** Events may have come that happened after the room was read. */
function since({ ref, rev }: Standing, before: Known | undefined, at: number): Known {
  const isSame = before?.ref === ref;
  const now: Known = { ref, rev, ahead: new Set(isSame ? before.ahead : []), gapAt: null };
  if (isSame) for (let it = rev + 1; it <= before.rev; it += 1) now.ahead.add(it);
  for (const it of now.ahead) if (it <= rev) now.ahead.delete(it);
  settle(now, at);
  return now;
}

function follow(known: Known | undefined, entry: ClientEntry): void {
  if (known === undefined) return;
  // Read, and found to be what the client has.
  if (entry.kind === 'answered' && entry.name === 'room:get' && entry.rev === known.rev) known.gapAt = null;
  if (entry.kind === 'pushed' && entry.ref === known.ref && entry.rev > known.rev) advance(known, entry);
}

function advance(known: Known, { rev, at }: EntryOf<'pushed'>): void {
  known.ahead.add(rev);
  settle(known, at);
}

function settle(known: Known, at: number): void {
  while (known.ahead.delete(known.rev + 1)) known.rev += 1;
  known.gapAt = known.ahead.size === 0 ? null : (known.gapAt ?? at);
}
