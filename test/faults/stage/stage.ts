/** Where a run takes place: three server processes behind nginx, one Redis, one PostgreSQL, a receiver of webhooks, clients. */
import { join } from 'node:path';
import type { PartialOptions } from '../../../src/server/options/options.ts';
import { createShutdown } from '../../../src/server/shutdown.ts';
import type { DatabaseServer } from '../../support/database.ts';
import { startNginx } from '../../support/nginx.ts';
import { startPostgres } from '../../support/postgres.ts';
import { temporaryFolder } from '../../support/process.ts';
import { type Receiver, startReceiver } from '../../webhooks/receiver.ts';
import type { ClientEntry } from '../checker/run.ts';
import { startWorker, type Worker } from '../clients/workers.ts';
import type { Seeded } from '../seeded.ts';
import { ChaosNode } from './node.ts';
import type { Timeline } from './timeline.ts';
import type { Timers } from './timers.ts';
import { TOPOLOGIES, type Topology, type TopologyName } from './topology.ts';

const NODES = 3;

export interface StageSettings {
  readonly timers: Timers;
  readonly clients: number;
  readonly paceMs: number;
  readonly random: Seeded;
  readonly timeline: Timeline;
  readonly topology: TopologyName;
  readonly main?: string | undefined;
}

export interface Stage extends AsyncDisposable {
  readonly store: Topology;
  readonly database: DatabaseServer;
  readonly nodes: readonly ChaosNode[];
  readonly receiver: Receiver;
  readonly timeline: Timeline;
  readonly timers: Timers;
  readonly adminToken: string;
  /** Two processes, each with half of the clients. */
  readonly workers: Worker[];
  /** Begins with the clients. */
  populate(): Promise<void>;
  /** The logs of all clients there ever were, by time. */
  entries(): Promise<ClientEntry[]>;
}

/** Clients connect from one address, and as fast as they can. */
const optionsOf = (timers: Timers, webhookUrl: string, adminToken: string): PartialOptions => ({
  ...timers,
  secret: 'a secret of the chaos suite',
  adminToken,
  apiPerMinute: 100_000,
  eventsPerSecond: 100_000,
  eventsBurst: 100_000,
  freeMisses: 1_000,
  sdk: false,
  webhookUrls: [webhookUrl],
  webhookSecrets: ['the secret of the chaos webhooks'],
  webhookAllowPrivate: true,
});

export async function startStage(settings: StageSettings): Promise<Stage> {
  const { timers, clients, paceMs, random, timeline, topology, main } = settings;
  const own = createShutdown();
  const owned = <Resource extends AsyncDisposable>(resource: Resource): Resource => {
    own.add(() => resource[Symbol.asyncDispose]());
    return resource;
  };
  try {
    const folder = owned(await temporaryFolder());
    const [store, database] = await Promise.all([TOPOLOGIES[topology](), startPostgres()]);
    owned(store);
    owned(database);
    const receiver = owned(await startReceiver());
    const adminToken = 'the-operator-of-the-chaos';
    const options = optionsOf(timers, receiver.url, adminToken);
    const databaseUrl = await database.createDatabase('chaos');
    const nodes: ChaosNode[] = [];
    for (let number = 0; number < NODES; number += 1) {
      const id = `node-${number}`;
      nodes.push(owned(await ChaosNode.start({ id, store, databaseUrl, options, main, timeline })));
    }
    const upstreams = nodes.map(({ links }) => `127.0.0.1:${links.clients.port}`);
    const nginx = owned(await startNginx({ upstreams }));
    const workers: Worker[] = [];
    const past: Worker[] = [];
    own.add(async () => void (await Promise.all(workers.map((worker) => worker.kill()))));
    const populate = async () => {
      while (workers.length < 2) {
        const number = past.length;
        const worker = await startWorker({
          url: nginx.url,
          journal: join(folder.path, `clients-${number}.jsonl`),
          seed: Math.floor(random.between(0, 2 ** 31)),
          name: `${String.fromCharCode(97 + (number % 26))}${number}-`,
          clients: Math.ceil(clients / 2),
          paceMs,
        });
        workers.push(worker);
        past.push(worker);
      }
    };
    return {
      store,
      database,
      nodes,
      receiver,
      timeline,
      timers,
      adminToken,
      workers,
      populate,
      entries: async () => (await Promise.all(past.map((it) => it.entries()))).flat().toSorted((a, b) => a.at - b.at),
      [Symbol.asyncDispose]: () => own.run(),
    };
  } catch (error) {
    await own.run();
    throw error;
  }
}
