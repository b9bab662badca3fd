#!/usr/bin/env node
/** The command line: reads the environment and the flags, and hands them on. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { OptionError } from '../server/options/options.ts';
import { flagOf, flags, readFlags, withoutEffect } from './flags.ts';
import { showPool } from './pool.ts';
import { printReferences } from './reference.ts';
import { serve } from './serve.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
/** The exit code that tells a bad command line from a server that could not start. */
const USAGE = 2;
const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

function createProgram(): Command {
  const program = new Command('signalbox')
    .description('A WebRTC signaling server: rooms by 6-digit code.')
    .version(version)
    // Both are handed on to the commands that are added from here on.
    .configureOutput({ outputError: (text, write) => write(complaint(text.replace(/^error: /, ''))) })
    .exitOverride();

  const serving = program.command('serve').description('Run one node until it is told to stop.');
  for (const flag of flags()) serving.addOption(flag);
  serving
    .addOption(
      new Option('--log-level <level>', 'How much to log.').choices(LEVELS).default('info').env('SIGNALBOX_LOG_LEVEL'),
    )
    .action((given) => serve(readFlags(given, process.env), given.logLevel, withoutEffect(process.env)));

  const pooling = program.command('pool').description('Show how many room codes are free, occupied and cooling.');
  for (const flag of flags()) if (POOL_FLAGS.has(flag.long ?? '')) pooling.addOption(flag);
  pooling
    .option('--audit', 'compare everything that Redis holds about each code', false)
    .option('--json', 'print one line of JSON', false)
    .action(async (given) => {
      const agree = await showPool(readFlags(given, process.env), given);
      if (!agree) process.exitCode = 1;
    });

  const referring = program
    .command('reference')
    .description('Print references that have never been given: order, user, product, room, or a type of --item-types.')
    .argument('<type>', 'what they are for');
  for (const flag of flags()) if (REFERENCE_FLAGS.has(flag.long ?? '')) referring.addOption(flag);
  referring
    .option('-n, --count <number>', 'how many, one on each line', '1')
    .action((type, given) => printReferences(type, given.count, readFlags(given, process.env)));
  return program;
}

const POOL_FLAGS = new Set(['redisUrl', 'redisPrefix', 'codeDigits', 'poolSize'].map(flagOf));

const REFERENCE_FLAGS = new Set(
  ['redisUrl', 'redisPrefix', 'databaseUrl', 'dataDir', 'referencePrefix', 'itemTypes'].map(flagOf),
);

/** What went wrong, and no stack: whoever starts a server reads one line. */
const complaint = (text: string): string => `signalbox: ${text.trim().replaceAll('\n', ' ')}\n`;

try {
  await createProgram().parseAsync();
} catch (error) {
  // Commander has said it already, be it a complaint or the help that was asked for.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : USAGE);
  process.stderr.write(complaint(error instanceof Error ? error.message : String(error)));
  process.exit(error instanceof OptionError ? USAGE : 1);
}
