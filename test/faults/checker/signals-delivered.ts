/**
 * An acknowledged signal is received: unless a part of its path was killed, cut or frozen within a second of it, or the
 * receiver has itself left the room or lost its connection. A node that drains ends connections too, and that is no excuse.
 */
import { lostOnPath, pathOf } from './excuses.ts';
import { type Homes, homesOf } from './homes.ts';
import { logEndsOf } from './log-ends.ts';
import { type ClientEntry, type EntryOf, entriesOf, type Law, type Run } from './run.ts';

const MARGIN_MS = 1_000;
/** What was sent this short before the end of the logs may still be on its way. */
const LAST_MS = 3_000;
/** Until such a call has settled, and after one whose outcome is unknown, the server may have the client in another room than it shows. */
const MOVES: ReadonlySet<string> = new Set(['join', 'create']);
/** What a client does by itself that takes its connection away. */
const GIVES_UP: ReadonlySet<string> = new Set(['cut', 'refresh', 'close']);

export const signalsDelivered: Law = (run) => {
  const homes = homesOf(run);
  const heard = new Set(entriesOf(run, 'heard').map(({ from, signal }) => `${from} ${signal.to} ${signal.n}`));
  const calls = new Map<string, EntryOf<'called'>>();
  for (const entry of entriesOf(run, 'called')) if (entry.signal) calls.set(`${entry.client} ${entry.call}`, entry);
  const whereabouts = whereaboutsOf(run, homes);
  const endOf = logEndsOf(run);
  const clientOf = new Map(entriesOf(run, 'welcomed').map(({ userId, client }) => [userId, client]));
  return entriesOf(run, 'settled').flatMap(({ at, client, call, error }) => {
    const { signal, userId, at: sentAt } = calls.get(`${client} ${call}`) ?? {};
    if (
      !signal ||
      userId == null ||
      sentAt === undefined ||
      error !== null ||
      at > endOf(clientOf.get(signal.to) ?? '') - LAST_MS
    )
      return [];
    if (heard.has(`${userId} ${signal.to} ${signal.n}`)) return [];
    const begin = sentAt - MARGIN_MS;
    const end = at + MARGIN_MS;
    const receiver = whereabouts.get(signal.to);
    if (receiver === undefined || !wasThere(receiver, signal.ref, begin, end)) return [];
    const senders = homes.nodesIn(userId, sentAt, at);
    const receivers = homes.nodesIn(signal.to, begin, end);
    const path = senders.flatMap((from) => receivers.flatMap((to) => pathOf(from, to)));
    if (lostOnPath(run, path, sentAt, at, MARGIN_MS)) return [];
    const way = `${senders.join(', ')} to ${receivers.join(', ')}`;
    return [
      {
        at,
        text: `signal ${signal.n} of ${userId} to ${signal.to} in ${signal.ref} was acknowledged and not received (${way})`,
      },
    ];
  });
};

interface Whereabouts {
  /** By its own log: the room that it was in from an instant on, null for none. */
  readonly rooms: { readonly at: number; readonly ref: string | null }[];
  /** The room that it was in when it asked for another one. */
  left: string | null;
  /** When it gave its connection up by itself, or lost it otherwise than by a drain. */
  readonly gaps: number[];
}

function whereaboutsOf(run: Run, homes: Homes): Map<string, Whereabouts> {
  const drains = drainsIn(run, homes);
  const all = new Map<string, Whereabouts>();
  const users = new Map<string, string>();
  for (const entry of run.clients) {
    if (entry.kind === 'welcomed') users.set(entry.client, entry.userId);
    const userId = users.get(entry.client);
    if (userId === undefined) continue;
    const own = all.get(userId) ?? { rooms: [], left: null, gaps: [] };
    all.set(userId, own);
    move(own, entry);
    const isGap =
      entry.kind === 'called' ? GIVES_UP.has(entry.name) : entry.kind === 'closed' && !drains(userId, entry.at);
    if (isGap) own.gaps.push(entry.at);
  }
  return all;
}

function move(own: Whereabouts, entry: ClientEntry): void {
  const { kind, at } = entry;
  if (kind === 'ended') own.rooms.push({ at, ref: null });
  if ((kind === 'welcomed' || kind === 'settled') && entry.room !== null) own.rooms.push({ at, ref: entry.room.ref });
  if ((kind !== 'called' && kind !== 'settled') || !MOVES.has(entry.name)) return;
  if (kind === 'called') {
    own.left = own.rooms.at(-1)?.ref ?? null;
    own.rooms.push({ at, ref: null });
  } else if (entry.error !== null && entry.error !== 'TIMEOUT') {
    // A refusal leaves it where it was.
    own.rooms.push({ at, ref: own.left });
  }
}

/** Whether a user's node drained at an instant. */
function drainsIn(run: Run, homes: Homes): (userId: string, at: number) => boolean {
  const drains = run.faults.filter(({ fault }) => fault === 'terminate');
  return (userId, at) => {
    const nodes = homes.nodesIn(userId, at - MARGIN_MS, at);
    return drains.some(({ target, from, until }) => nodes.includes(target) && from <= at && until >= at);
  };
}

/** Whether it could receive what is sent in that room all the time between the two instants. */
function wasThere({ rooms, gaps }: Whereabouts, ref: string, begin: number, end: number): boolean {
  if (gaps.some((at) => at >= begin && at <= end)) return false;
  const first = rooms.findLastIndex(({ at }) => at <= begin);
  const during = rooms.filter(({ at }, index) => index >= first && at <= end);
  return first !== -1 && during.every((room) => room.ref === ref);
}
