#!/usr/bin/env node
/** The command line: parses flags and environment, and calls the command. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { OptionError } from '../server/options/options.ts';
import { flagOf, flags, readFlags, withoutEffect } from './flags.ts';
import { showPool } from './pool.ts';
import { printReferences } from './reference.ts';
import { serve } from './serve.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
/** Exit code for a bad command line; 1 is for a command that failed. */
const USAGE_ERROR = 2;
const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

function createProgram(): Command {
  const program = new Command('signalbox')
    .description('A WebRTC signaling server: rooms by 6-digit code.')
    .version(version)
    // Inherited by the commands that are added below.
    .configureOutput({ outputError: (text, write) => write(errorLine(text.replace(/^error: /, ''))) })
    .exitOverride();

  const serveCommand = program.command('serve').description('Run one node until SIGINT or SIGTERM.');
  for (const flag of flags()) serveCommand.addOption(flag);
  serveCommand
    .addOption(
      new Option('--log-level <level>', 'How much to log.').choices(LEVELS).default('info').env('SIGNALBOX_LOG_LEVEL'),
    )
    .action((given) => serve(readFlags(given, process.env), given.logLevel, withoutEffect(process.env)));

  const poolCommand = program.command('pool').description('Show how many room codes are free, occupied and cooling.');
  for (const flag of flags()) if (POOL_FLAGS.has(flag.long ?? '')) poolCommand.addOption(flag);
  poolCommand
    .option('--audit', 'check the data in Redis about each code for consistency', false)
    .option('--json', 'print the figures as one line of JSON', false)
    .action(async (given) => {
      const isConsistent = await showPool(readFlags(given, process.env), given);
      if (!isConsistent) process.exitCode = 1;
    });

  const referenceCommand = program
    .command('reference')
    .description('Issue and print new references of a type: order, user, product, room, or a type of --item-types.')
    .argument('<type>', 'item type of the references');
  for (const flag of flags()) if (REFERENCE_FLAGS.has(flag.long ?? '')) referenceCommand.addOption(flag);
  referenceCommand
    .option('-n, --count <number>', 'number of references, printed one per line', '1')
    .action((type, given) => printReferences(type, given.count, readFlags(given, process.env)));
  return program;
}

const POOL_FLAGS = new Set(['redisUrl', 'redisPrefix', 'codeDigits', 'poolSize'].map(flagOf));

const REFERENCE_FLAGS = new Set(
  ['redisUrl', 'redisPrefix', 'databaseUrl', 'dataDir', 'referencePrefix', 'itemTypes'].map(flagOf),
);

/** An error as one line, without a stack trace. */
const errorLine = (text: string): string => `signalbox: ${text.trim().replaceAll('\n', ' ')}\n`;

try {
  await createProgram().parseAsync();
} catch (error) {
  // Commander has printed the error, or the requested help, already.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : USAGE_ERROR);
  process.stderr.write(errorLine(error instanceof Error ? error.message : String(error)));
  process.exit(error instanceof OptionError ? USAGE_ERROR : 1);
}
