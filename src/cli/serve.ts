/** `signalbox serve`: runs one node until SIGINT or SIGTERM. */
import { createServer, type SignalboxServer } from '../index.ts';
import { countAdminTokens } from '../server/auth/admin-tokens.ts';
import type { Options, PartialOptions } from '../server/options/options.ts';
import { withDataDir } from './data-dir.ts';
import { createCliLog } from './log.ts';
import { startUntilSignal } from './signals.ts';

/** @param notices about variables of the environment that have no effect. */
export async function serve(options: PartialOptions, logLevel: string, notices: readonly string[]): Promise<void> {
  const log = createCliLog(logLevel);
  for (const notice of notices) log.warn(notice);
  // Last resort: a bug in one request must not end the process and with it all calls.
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled promise rejection'));
  // Listens to signals before the address is printed: who reads it may send one at once.
  const server = await startUntilSignal(() => createServer(withDataDir(options, log), { log }), log);
  if (server !== undefined) process.stdout.write(`${await banner(server)}\n`);
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
