/**
 * Who may import whom. A floor is a folder or a file; the longest matching path decides. Type imports count: a type is
 * a dependency of whoever reads the code.
 */

export interface Floor {
  readonly path: string;
  /** Folders and files (without extension) that it may import; its own are always allowed. */
  readonly ours: readonly string[];
  readonly packages: readonly string[];
  /** Whether it may use Node's own modules: what also runs in a browser may not. */
  readonly node: boolean;
}

const chooses = [
  'src/engine',
  'src/database',
  'src/records',
  'src/reference',
  'src/room',
  'src/protocol',
  'src/server',
  'src/support',
  'src/client',
];

export const floors: readonly Floor[] = [
  { path: 'src/protocol', ours: [], packages: ['zod'], node: false },
  { path: 'src/room', ours: ['src/protocol'], packages: [], node: false },
  { path: 'src/support', ours: [], packages: ['pino'], node: true },
  {
    path: 'src/engine',
    ours: ['src/room', 'src/protocol', 'src/support'],
    packages: ['socket.io-adapter'],
    node: true,
  },
  {
    path: 'src/engine/redis',
    ours: [
      'src/engine/engine',
      'src/engine/feed',
      'src/engine/deliveries',
      'src/engine/channels',
      'src/room',
      'src/protocol',
      'src/support',
    ],
    packages: ['redis', '@socket.io/redis-adapter', 'socket.io-adapter', 'zod'],
    node: true,
  },
  { path: 'src/database', ours: ['src/support'], packages: ['libsql', 'pg', 'mysql2'], node: true },
  // Of the engine they know its feed alone.
  {
    path: 'src/records',
    ours: ['src/database/database', 'src/engine/feed', 'src/protocol', 'src/support'],
    packages: [],
    node: true,
  },
  {
    path: 'src/reference',
    ours: ['src/database/database', 'src/database/open', 'src/support'],
    packages: [],
    node: true,
  },
  {
    // Counts in Redis, and connects to it as the engine does: what was learnt about that client is written down once.
    path: 'src/reference/redis',
    ours: ['src/reference/counter', 'src/engine/engine', 'src/engine/redis', 'src/support'],
    packages: ['zod'],
    node: true,
  },
  // Where references choose their stores, and a server its references.
  { path: 'src/reference/create', ours: ['src/reference', 'src/support'], packages: [], node: true },
  {
    path: 'src/reference/choose',
    ours: ['src/database/choose', 'src/database/database', 'src/reference', 'src/support'],
    packages: [],
    node: true,
  },
  {
    // Sends what an engine queues: it knows neither rooms nor who asks for it.
    path: 'src/webhooks',
    ours: ['src/engine/engine', 'src/engine/feed', 'src/engine/deliveries', 'src/protocol', 'src/support'],
    packages: [],
    node: true,
  },
  {
    path: 'src/server',
    // Of the references it knows the port, and the default that keeps nothing; those with a store are handed in.
    ours: [
      'src/engine/engine',
      'src/engine/feed',
      'src/engine/channels',
      'src/reference/generator',
      'src/reference/random',
      'src/reference/item-types',
      'src/database/url',
      'src/records/calls',
      'src/server/http/api/api',
      'src/webhooks',
      'src/room',
      'src/protocol',
      'src/support',
    ],
    packages: ['socket.io', 'socket.io-parser', 'fastify', '@fastify', 'jose', 'rate-limiter-flexible', 'zod'],
    node: true,
  },
  {
    // For back ends: what the sockets do not speak of is known here alone.
    path: 'src/server/http/api',
    ours: [
      'src/server',
      'src/engine/engine',
      'src/records/calls',
      'src/records/csv',
      'src/reference/generator',
      'src/reference/item-types',
      'src/room',
      'src/protocol',
      'src/support',
      'src/webhooks/webhooks',
    ],
    packages: ['fastify', '@fastify', 'fastify-type-provider-zod', 'openapi-types', 'zod'],
    node: true,
  },
  { path: 'src/client', ours: ['src/protocol'], packages: ['socket.io-client'], node: false },
  {
    path: 'src/cli',
    ours: [...chooses, 'src/index'],
    packages: ['commander', 'close-with-grace', 'pino', 'pino-pretty', 'zod'],
    node: true,
  },
  { path: 'src/index.ts', ours: chooses, packages: [], node: true },
  { path: 'client-demo', ours: ['src/client'], packages: ['qr'], node: false },
  { path: 'client-demo/vite.config.ts', ours: [], packages: ['vite'], node: true },
];

/** Only the roof reads the environment: everything below is given its options. */
export const readsEnvironment: readonly string[] = ['src/cli'];
