/**
 * Who may import whom. A floor is a folder or a file; the longest matching path decides. Type imports count: a type is
 * a dependency of whoever reads the code.
 */

import { serverFloors } from './server-floors.ts';

export interface Floor {
  readonly path: string;
  /** What stands there, for the drawings. */
  readonly about: string;
  /** Folders and files (without extension) that it may import; its own are always allowed. */
  readonly ours: readonly string[];
  readonly packages: readonly string[];
  /** Whether it may use Node's own modules: what also runs in a browser may not. */
  readonly node: boolean;
}

export const floors: readonly Floor[] = [
  {
    path: 'src/protocol',
    about: 'what client and server say: messages, errors, limits',
    ours: [],
    packages: ['zod'],
    node: false,
  },
  {
    path: 'src/room',
    about: 'the rules of rooms, as pure functions',
    ours: ['src/protocol'],
    packages: [],
    node: false,
  },
  {
    path: 'src/support',
    about: 'clock, chance, log, deadlines: nothing of ours',
    ours: ['src/support/chance', 'src/support/clock'],
    packages: ['pino'],
    node: true,
  },
  // The part of it that the SDK takes along into browsers.
  {
    path: 'src/support/backoff',
    about: 'exponential back-off',
    ours: ['src/support/chance'],
    packages: [],
    node: false,
  },
  { path: 'src/support/chance', about: 'chance that is no secret', ours: [], packages: [], node: false },
  { path: 'src/support/clock', about: 'time as an argument', ours: [], packages: [], node: false },
  { path: 'src/support/page-clock', about: "the SDK's clock", ours: ['src/support/clock'], packages: [], node: false },
  {
    path: 'src/support/async',
    about: 'queues, single flight, debounce, periodic jobs: in browsers too',
    ours: ['src/support/backoff', 'src/support/chance', 'src/support/clock', 'src/support/log'],
    packages: [],
    node: false,
  },
  {
    path: 'src/redis',
    about: 'connecting to Redis, and running scripts in it',
    ours: ['src/support'],
    packages: ['redis'],
    node: true,
  },
  {
    path: 'src/engine',
    about: 'the port of the stores of rooms, and the memory engine',
    ours: ['src/room', 'src/protocol', 'src/support'],
    packages: [],
    node: true,
  },
  {
    path: 'src/engine/redis',
    about: 'the Redis engine: one Lua script per command',
    ours: [
      'src/redis',
      'src/engine/engine',
      'src/engine/feed',
      'src/engine/socket-rooms',
      'src/room',
      'src/protocol',
      'src/support',
    ],
    packages: ['redis', '@socket.io/redis-adapter', 'zod'],
    node: true,
  },
  {
    path: 'src/database',
    about: 'one SQL database of three kinds',
    ours: ['src/support'],
    packages: ['libsql', 'pg', 'mysql2'],
    node: true,
  },
  // Of the engine they know its feed alone.
  {
    path: 'src/records',
    about: 'call records, read from the feed of the engine',
    ours: ['src/database/database', 'src/engine/feed', 'src/protocol', 'src/support'],
    packages: [],
    node: true,
  },
  {
    path: 'src/reference',
    about: 'the generator of references, which never repeat',
    ours: ['src/database/database', 'src/support'],
    packages: [],
    node: true,
  },
  {
    path: 'src/reference/redis',
    about: 'a counter of references in Redis',
    ours: ['src/reference/counter', 'src/reference/ledger', 'src/redis', 'src/support'],
    packages: ['zod'],
    node: true,
  },
  {
    path: 'src/reference/from-options',
    about: 'joins the generator of references with its stores',
    ours: ['src/database', 'src/reference', 'src/support'],
    packages: [],
    node: true,
  },
  {
    path: 'src/data-dir-lock.ts',
    about: 'one node per data directory',
    ours: ['src/database/database-url', 'src/database/libsql', 'src/support'],
    packages: ['libsql'],
    node: true,
  },
  {
    path: 'src/webhooks/queue',
    about: 'the queue of events for each endpoint, in memory or in Redis',
    ours: ['src/engine/feed', 'src/redis', 'src/protocol', 'src/support'],
    packages: ['zod'],
    node: true,
  },
  {
    path: 'src/webhooks',
    about: 'sends the feed to HTTP receivers',
    ours: ['src/webhooks/queue/queue', 'src/engine/feed', 'src/protocol', 'src/support'],
    packages: [],
    node: true,
  },
  ...serverFloors,
  {
    path: 'src/client',
    about: 'the SDK for browsers',
    ours: ['src/protocol', 'src/support/backoff', 'src/support/chance', 'src/support/clock', 'src/support/page-clock'],
    packages: ['socket.io-client'],
    node: false,
  },
  {
    path: 'src/cli',
    about: 'the command line: it alone reads the environment',
    ours: ['src/engine', 'src/reference', 'src/room', 'src/protocol', 'src/server', 'src/support', 'src/index'],
    packages: ['commander', 'close-with-grace', 'pino', 'pino-pretty'],
    node: true,
  },
  {
    path: 'src/create-server',
    about: 'chooses engine, database and references',
    ours: [
      'src/data-dir-lock',
      'src/database',
      'src/engine',
      'src/records',
      'src/reference',
      'src/server',
      'src/support',
      'src/webhooks/queue',
    ],
    packages: [],
    node: false,
  },
  {
    path: 'src/index.ts',
    about: 'what the package exports',
    ours: ['src/create-server', 'src/protocol', 'src/reference', 'src/server', 'src/support'],
    packages: [],
    node: false,
  },
  {
    path: 'client-demo',
    about: 'the demo page',
    ours: ['src/client', 'src/protocol/display-name'],
    packages: ['qr'],
    node: false,
  },
  { path: 'client-demo/vite.config.ts', about: 'how the demo page is built', ours: [], packages: ['vite'], node: true },
];

/** Only the roof reads the environment: everything below is given its options. */
export const readsEnvironment: readonly string[] = ['src/cli'];
