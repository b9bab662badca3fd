/** `signalbox serve`: runs one node until it is told to stop. */
import closeWithGrace from 'close-with-grace';
import { createServer, type SignalboxServer } from '../index.ts';
import { countAdminTokens } from '../server/auth/admin-tokens.ts';
import type { Options, PartialOptions } from '../server/options/options.ts';
import { withDataDir } from './data-dir.ts';
import { createCliLog } from './log.ts';

/** Beyond the drain: for closing what is left. */
const CLOSE_MARGIN_MS = 5000;

/** @param idle variables that are set and have no effect. */
export async function serve(options: PartialOptions, logLevel: string, idle: readonly string[]): Promise<void> {
  const log = createCliLog(logLevel);
  for (const name of idle) log.warn(`${name} is set, and has no effect in this version`);
  // The last net: a promise that nobody awaited is a fault to mend, not a reason to drop every call.
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'an unhandled rejection'));
  const server = await createServer(withDataDir(options, log), { log });
  process.stdout.write(`${await banner(server)}\n`);
  closeWithGrace(
    { delay: server.options.drainMs + CLOSE_MARGIN_MS, skip: ['unhandledRejection'] },
    async ({ err, signal }) => {
      if (err) log.error({ err }, 'the process fails');
      log.info({ signal }, 'closing: clients are asked to go elsewhere');
      await server.close();
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

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

const webhooksOf = ({ webhookUrls }: Options): string[][] =>
  webhookUrls.length === 0 ? [] : [['webhooks', counted(webhookUrls.length, 'endpoint')]];

function apiOf(options: Options): string {
  const tokens = countAdminTokens(options);
  const who = tokens === 0 ? '/v1, no token is set' : `/v1 for ${counted(tokens, 'token')}`;
  return options.apiDocs ? `${who}, documentation at /docs` : who;
}
