/** `signalbox serve`: runs one node until SIGINT or SIGTERM. */
import closeWithGrace from 'close-with-grace';
import { createServer, type SignalboxServer } from '../index.ts';
import { countAdminTokens } from '../server/auth/admin-tokens.ts';
import type { Options, PartialOptions } from '../server/options/options.ts';
import type { Log } from '../support/log.ts';
import { withDataDir } from './data-dir.ts';
import { createCliLog } from './log.ts';

/** Time after the drain for closing the rest. */
const CLOSE_MARGIN_MS = 5000;

/** @param notices about variables of the environment that have no effect. */
export async function serve(options: PartialOptions, logLevel: string, notices: readonly string[]): Promise<void> {
  const log = createCliLog(logLevel);
  for (const notice of notices) log.warn(notice);
  // Last resort: a bug in one request must not end the process and with it all calls.
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled promise rejection'));
  const server = await createServer(withDataDir(options, log), { log });
  // Before the address is printed: who reads it may send a signal at once.
  endOnSignals(server, log);
  process.stdout.write(`${await banner(server)}\n`);
}

function endOnSignals(server: SignalboxServer, log: Log): void {
  closeWithGrace(
    {
      delay: server.options.drainMs + CLOSE_MARGIN_MS,
      skip: ['unhandledRejection'],
      onSecondSignal: (signal) => log.warn({ signal }, 'a second signal: the process ends at once'),
    },
    async ({ err, signal }) => {
      if (err) log.error({ err }, 'uncaught exception');
      log.info({ signal }, 'shutting down: clients are asked to reconnect to another node');
      // Who presses Ctrl+C in a terminal waits for no load balancer.
      await server.close({ waitForBalancers: signal === 'SIGTERM' });
    },
  );
}

async function banner(server: SignalboxServer): Promise<string> {
  const [nodes, pool] = await Promise.all([server.engine.nodes(), server.pool()]);
  const number = (value: number) => value.toLocaleString('en-US');
  const rows = [
    ['address', server.url],
    ['node', server.nodeId],
    ['engine', server.engine.name],
    ['references', server.references],
    ['calls', server.calls],
    ...webhooksOf(server.options),
    ['api', apiOf(server.options)],
    ['nodes seen', `${nodes.length} (${[...nodes].sort().join(', ')})`],
    [
      'codes',
      `${number(pool.free)} free, ${number(pool.occupied)} occupied, ${number(pool.cooling)} cooling of ${number(pool.total)}`,
    ],
  ];
  return [
    '',
    '  Signalbox is listening',
    ...rows.map(([label = '', value]) => `  ${label.padEnd(11)} ${value}`),
    '',
  ].join('\n');
}

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

const webhooksOf = ({ webhookUrls }: Options): string[][] =>
  webhookUrls.length === 0 ? [] : [['webhooks', plural(webhookUrls.length, 'endpoint')]];

function apiOf(options: Options): string {
  const tokens = countAdminTokens(options);
  const access = tokens === 0 ? '/v1, no token is set' : `/v1 for ${plural(tokens, 'token')}`;
  return options.apiDocs ? `${access}, documentation at /docs` : access;
}
