/**
 * Every request has an outcome after 5 s: an answer on its connection or the end of that connection, unless node or link
 * stand still; and a promise of the SDK settles whatever happens.
 */
import { homesOf } from './homes.ts';
import { logEndsOf } from './log-ends.ts';
import { entriesOf, type Law } from './run.ts';

const LIMIT_MS = 5_000;
/** The processes share two cores, and the SDK's own limit is 5 s too. */
const SLACK_MS = 2_000;

export const requestsAnswered: Law = (run) => [...onTheWire(run), ...ofTheSdk(run)];

const onTheWire: Law = (run) => {
  const homes = homesOf(run);
  const open = new Map<string, { at: number; name: string; client: string; connection: string }>();
  const users = new Map<string, string>();
  const found: { at: number; text: string }[] = [];
  const judge = (key: string, now: number) => {
    const { at, name, client, connection } = open.get(key) ?? { at: now, name: '', client: '', connection: '' };
    open.delete(key);
    if (now - at < LIMIT_MS + SLACK_MS) return;
    const nodes = homes.nodesIn(users.get(connection) ?? '', at, at);
    const still = nodes.flatMap((node) => [node, `${node} clients`]);
    if (run.faults.some(({ target, from, until }) => still.includes(target) && from <= now && until >= at - 1_000))
      return;
    found.push({ at, text: `${name} of ${client} on ${nodes.join()} had no outcome for ${Math.round(now - at)} ms` });
  };
  for (const entry of run.clients) {
    if (!('connection' in entry)) continue;
    const connection = `${entry.client} ${entry.connection}`;
    if (entry.kind === 'welcomed') users.set(connection, entry.userId);
    if (entry.kind === 'asked')
      open.set(`${connection} ${entry.request}`, { at: entry.at, name: entry.name, client: entry.client, connection });
    if (entry.kind === 'answered') judge(`${connection} ${entry.request}`, entry.at);
    if (entry.kind !== 'closed') continue;
    for (const key of open.keys()) if (key.startsWith(`${connection} `)) judge(key, entry.at);
  }
  const endOf = logEndsOf(run);
  for (const [key, { client }] of open) judge(key, endOf(client));
  return found;
};

const ofTheSdk: Law = (run) => {
  const called = new Map(entriesOf(run, 'called').map((entry) => [`${entry.client} ${entry.call}`, entry]));
  const endOf = logEndsOf(run);
  const found: { at: number; text: string }[] = [];
  const settled = new Set<string>();
  const tell = (key: string, after: number) => {
    const call = called.get(key);
    if (call === undefined || INSTANT.has(call.name) || after - call.at < LIMIT_MS + SLACK_MS) return;
    found.push({
      at: call.at,
      text: `${call.name} of ${call.client} was not settled for ${Math.round(after - call.at)} ms`,
    });
  };
  for (const entry of entriesOf(run, 'settled')) {
    settled.add(`${entry.client} ${entry.call}`);
    tell(`${entry.client} ${entry.call}`, entry.at);
  }
  for (const [key, { client }] of called) if (!settled.has(key)) tell(key, endOf(client));
  return found;
};

/** Deeds of the clients, not requests. */
const INSTANT: ReadonlySet<string> = new Set(['cut', 'refresh', 'vanish']);
