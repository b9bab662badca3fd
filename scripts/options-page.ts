/** `docs/options.md`: every option in its three spellings, from the one table. */
import { flagOf, variableOf } from '../src/cli/flags.ts';
import { OPTIONS } from '../src/server/options/options.ts';
import { tableText } from './table-text.ts';

const HEAD = `<!-- Printed by \`npm run docs\` from src/server/options/options.ts: edit that, not docs/options.md. -->

# Options

Every option has one name in three spellings: \`graceMs\` in \`createServer({ ... })\`, \`--grace-ms\` on the command line and
\`SIGNALBOX_GRACE_MS\` in the environment. A flag takes precedence over a \`SIGNALBOX_\` variable, and that variable over a
plain one (\`PORT\`). An unknown flag or \`SIGNALBOX_\` variable, or an invalid value, stops the start with a message of one
line that names it. Lists are separated by commas. Times are in milliseconds.
`;

const FOOT = `
\`--log-level\` (\`SIGNALBOX_LOG_LEVEL\`: debug, info, warn, error, silent) exists on the command line only: a
program that embeds the server passes its own log, or gets warnings and errors on standard error.

Two defaults depend on another option: \`heartbeatIntervalMs\` is at most half of \`userTtlMs\`, and \`tickMs\` at most a
sixth.
`;

export function printOptionsPage(): string {
  const rows = Object.entries(OPTIONS).map(([name, entry]) => {
    const variables = [variableOf(name), ...('env' in entry ? [entry.env] : [])].map((variable) => `\`${variable}\``);
    return [`\`${name}\``, `\`${flagOf(name)}\``, variables.join(', '), fallbackOf(entry), entry.help];
  });
  return `${HEAD}\n${tableText(['option', 'command line', 'environment', 'default', 'meaning'], rows)}\n${FOOT}`;
}

function fallbackOf({ schema }: (typeof OPTIONS)[keyof typeof OPTIONS]): string {
  const read = schema.safeParse(undefined);
  const text = read.success ? String(read.data ?? '') : '';
  return text === '' ? '' : `\`${text}\``;
}
