/** All keys of a Redis, for a piece of work that fails when a connection is lost: of one server, or of all masters. */
import { withDeadline } from '../support/deadline.ts';
import type { PlainClient, RedisClient } from './client.ts';
import { isClusterUrl } from './cluster/url.ts';
import { connectPlainClient } from './plain-client.ts';
import { createRoleClients } from './role-client.ts';

export interface Store extends Pick<RedisClient, 'eval'> {
  /** The keys that match, in batches; one that is moved meanwhile may come twice. */
  scan(pattern: string): AsyncIterable<readonly string[]>;
}

const CONNECT_MS = 5_000;

/** @throws Error when it cannot be connected. */
export async function withStore<T>(role: string, url: string, work: (store: Store) => Promise<T>): Promise<T> {
  if (isClusterUrl(url)) return withCluster(role, url, work);
  const client = await connectPlainClient(role, url);
  try {
    return await work({
      eval: (source, call) => client.eval(source, call),
      scan: (pattern) => scan([client], pattern),
    });
  } finally {
    client.destroy();
  }
}

async function withCluster<T>(role: string, url: string, work: (store: Store) => Promise<T>): Promise<T> {
  let problem = 'no reply';
  const clients = createRoleClients([role], { url }, ({ message }) => {
    problem = message;
  });
  const client = clients[role];
  if (client?.cluster === undefined) throw new Error('the URL is not of a Cluster');
  const { cluster } = client;
  try {
    await withDeadline(client.connect(), CONNECT_MS, () => new Error(problem));
    const masters = (): PlainClient[] => cluster.names.flatMap((name) => cluster.client(name) ?? []);
    return await work({
      eval: (source, call) => client.eval(source, call),
      scan: (pattern) => scan(masters(), pattern),
    });
  } finally {
    client.destroy();
  }
}

async function* scan(clients: readonly PlainClient[], pattern: string): AsyncGenerator<readonly string[]> {
  for (const client of clients) yield* client.scanIterator({ MATCH: pattern, COUNT: 1_000 });
}
