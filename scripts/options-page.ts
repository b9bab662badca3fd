/** `docs/options.md`: every option in its three spellings, from the one table. */
import { variablesOf } from '../src/cli/flags.ts';
import { flagOf } from '../src/cli/option-spellings.ts';
import { OPTIONS, type OptionName } from '../src/server/options/options.ts';
import { tableText } from './table-text.ts';

const HEAD = `<!-- Printed by \`npm run docs\` from src/server/options/options.ts: edit that, not docs/options.md. -->

# Options

Every option has one name in three spellings: \`graceMs\` in \`createServer({ ... })\`, \`--grace-ms\` on the command line and
\`SIGNALBOX_GRACE_MS\` in the environment. A flag takes precedence over a \`SIGNALBOX_\` variable, and that variable over a
plain one (\`PORT\`). An unknown flag or \`SIGNALBOX_\` variable, or an invalid value, stops the start with a message of one
line that names it.

## Values

How flags, variables and files are read; a program passes numbers, booleans and arrays.

- White space and line ends around a value are dropped. An empty variable counts as unset.
- Times are in milliseconds, or have a unit: \`500ms\`, \`30s\`, \`5m\`, \`24h\`, \`7d\`. \`SIGNALBOX_GRACE_MS=30s\` is 30000.
- Numbers are decimal digits: neither \`1e3\` nor \`0x10\`.
- Booleans are \`true\`, \`yes\`, \`on\`, \`1\`, or \`false\`, \`no\`, \`off\`, \`0\`. A flag without a value is true.
- Lists are separated by commas or line breaks. Empty entries are left out.

## Secrets

A command line is visible to every user of the machine (\`ps\`), so give secrets by variables or by files. For each option
that may hold a secret, the variable \`SIGNALBOX_..._FILE\` in the table below is the path of a file that contains its value, such as a secret of Docker or
Kubernetes, or a credential of systemd:

\`\`\`sh
SIGNALBOX_ADMIN_TOKEN_FILE=/run/secrets/admin-token npx signalbox serve
\`\`\`

The file is read once, at the start. Setting the variable and its \`_FILE\` together is refused.

## Variables of other programs

Kubernetes sets \`SIGNALBOX_SERVICE_HOST\`, \`SIGNALBOX_PORT=tcp://...\` and the like in every pod beside a Service called \`signalbox\`
or \`signalbox-...\`, and Docker does for linked containers. Such variables are ignored; \`SIGNALBOX_PORT=tcp://...\` is not our port.
A \`HOST\` that is the name of the machine or of a compiler target is ignored with a warning, because tcsh and conda export such
ones; any other one has to be an address of this machine, or a name of one.

## All options
`;

const FOOT = `
\`--log-level\` (\`SIGNALBOX_LOG_LEVEL\`: debug, info, warn, error, silent) exists on the command line only: a
program that embeds the server passes its own log, or gets warnings and errors on standard error.

Three defaults depend on another option: \`heartbeatIntervalMs\` is at most half of \`userTtlMs\`, \`tickMs\` at most a sixth of it,
and \`drainReadyMs\` at most half of \`drainMs\`.
`;

export function printOptionsPage(): string {
  const rows = Object.entries(OPTIONS).map(([name, entry]) => {
    const variables = variablesOf(name, entry).map((variable) => `\`${variable}\``);
    return [`\`${name}\``, `\`${flagOf(name)}\``, variables.join(', '), fallbackOf(entry), entry.help];
  });
  return `${HEAD}\n${tableText(['option', 'command line', 'environment', 'default', 'meaning'], rows)}\n${FOOT}`;
}

function fallbackOf({ schema }: (typeof OPTIONS)[OptionName]): string {
  const read = schema.safeParse(undefined);
  const text = read.success ? String(read.data ?? '') : '';
  return text === '' ? '' : `\`${text}\``;
}
