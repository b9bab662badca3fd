/** The command line: parses flags and environment, and calls the command. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { OptionError, type OptionName } from '../server/options/options.ts';
import { errorLine, usageErrorLine } from './error-line.ts';
import { flags, type GivenOptions, LOG_LEVEL, readFlags } from './flags.ts';
import { withSource } from './option-sources.ts';
import { flagOf } from './option-spellings.ts';
import { readValue } from './values.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
/** Exit code for a bad command line; 1 is for a command that failed. */
const USAGE_ERROR = 2;
const MAX_TIMEOUT_MS = 3_600_000;
const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

// Commands are loaded when they are run: `signalbox health` runs every few seconds, and needs no driver and no server.
function createProgram(): Command {
  const program = new Command('signalbox')
    .description('A WebRTC signaling server: rooms by 6-digit code.')
    .version(version)
    // Inherited by the commands that are added below.
    .configureOutput({ outputError: (text, write) => write(usageErrorLine(text)) })
    .exitOverride();
  addServe(program);
  addPool(program);
  addReference(program);
  addHealth(program);
  return program;
}

function addServe(program: Command): void {
  const command = program.command('serve').description('Run one node until SIGINT or SIGTERM.');
  for (const flag of flags()) command.addOption(flag);
  command
    .addOption(new Option('--log-level <level>', `How much to log. (default info; ${LOG_LEVEL})`).choices(LEVELS))
    .action((given: { logLevel?: string }) =>
      run(given, readAll, async (read) => {
        const { serve } = await import('./serve.ts');
        await serve(read.options, given.logLevel ?? levelOf(process.env[LOG_LEVEL]), read.notices);
      }),
    );
}

function addPool(program: Command): void {
  const command = program.command('pool').description('Show how many room codes are free, occupied and cooling.');
  addFlags(command, ['redisUrl', 'redisPrefix', 'codeDigits', 'poolSize']);
  command
    .option('--audit', 'check the data in Redis about each code for consistency', false)
    .option('--json', 'print the figures as one line of JSON', false)
    .action((given: { audit: boolean; json: boolean }) =>
      run(given, readAll, async ({ options }) => {
        const { showPool } = await import('./pool.ts');
        if (!(await showPool(options, given))) process.exitCode = 1;
      }),
    );
}

function addReference(program: Command): void {
  const command = program
    .command('reference')
    .description('Issue and print new references of a type: order, user, product, room, or a type of --item-types.')
    .argument('<type>', 'item type of the references');
  addFlags(command, ['redisUrl', 'redisPrefix', 'databaseUrl', 'dataDir', 'referencePrefix', 'itemTypes']);
  command
    .option('-n, --count <number>', 'number of references, printed one per line', '1')
    .action((type: string, given: { count: string }) =>
      run(given, readAll, async ({ options }) => {
        const { printReferences } = await import('./reference.ts');
        await printReferences(type, given.count, options);
      }),
    );
}

/** Takes all flags of `serve`, so that both may be given the same ones, and reads those that say where it listens. */
function addHealth(program: Command): void {
  const command = program
    .command('health')
    .description('Ask the server that the same options start whether it is alive: exit code 0, else 1.');
  for (const flag of flags()) command.addOption(flag);
  command
    .option('--ready', 'ask whether it accepts clients, instead of whether it is alive', false)
    .option('--timeout-ms <ms|2s>', 'how long to wait for the answer', '2000')
    .action((given: { ready: boolean; timeoutMs: string }) =>
      run(given, readWhere, async ({ options }) => {
        const { askHealth } = await import('./health.ts');
        const url = await askHealth(options, { ready: given.ready, timeoutMs: readTimeout(given.timeoutMs) });
        process.stdout.write(`ok: ${url}\n`);
      }),
    );
}

const readWhere: ReadOptions = (given) => readFlags(given, process.env, ['host', 'port']);

function readTimeout(text: string): number {
  const timeoutMs = Number(readValue('duration', text.trim(), '--timeout-ms'));
  if (Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS) return timeoutMs;
  throw new OptionError('--timeout-ms', `must be from 1 to ${MAX_TIMEOUT_MS} ms`);
}

function addFlags(command: Command, names: readonly OptionName[]): void {
  const wanted = new Set(names.map(flagOf));
  for (const flag of flags()) if (wanted.has(flag.long ?? '')) command.addOption(flag);
}

type ReadOptions = (given: Readonly<Record<string, unknown>>) => GivenOptions;
const readAll: ReadOptions = (given) => readFlags(given, process.env);

/** Runs a command with the options of the flags and of the environment. */
async function run(
  given: object,
  readOptions: ReadOptions,
  command: (read: GivenOptions) => Promise<void>,
): Promise<void> {
  const read = readOptions({ ...given });
  try {
    await command(read);
  } catch (error) {
    throw withSource(error, read.sources);
  }
}

function levelOf(variable: string | undefined): string {
  const level = variable?.trim() || 'info';
  if (LEVELS.includes(level)) return level;
  throw new OptionError(LOG_LEVEL, `must be one of ${LEVELS.join(', ')}`);
}

/** Runs the command of the command line. A failure ends the process, with its exit code. */
export async function runProgram(): Promise<void> {
  try {
    await createProgram().parseAsync();
  } catch (error) {
    // Commander has printed the error, or the requested help, already.
    if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : USAGE_ERROR);
    process.stderr.write(errorLine(error instanceof Error ? error.message : String(error)));
    process.exit(error instanceof OptionError ? USAGE_ERROR : 1);
  }
}
