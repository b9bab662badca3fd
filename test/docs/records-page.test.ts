/** Facts and examples of `docs/records.md`, checked against the source and a running server. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { variableOf } from '../../src/cli/option-spellings.ts';
import { openDatabase } from '../../src/database/open.ts';
import { createServer } from '../../src/index.ts';
import { CLOSE_REASONS, LEAVE_REASONS } from '../../src/protocol/messages.ts';
import { CSV_HEADER } from '../../src/records/csv.ts';
import { OPTIONS, readOptions } from '../../src/server/options/options.ts';
import { connectClient } from '../support/client.ts';
import { temporaryFolder } from '../support/process.ts';
import { retry } from '../support/retry.ts';
import { snippetsOf } from './snippets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs/records.md'), 'utf8');
const ADMIN = 'the-token-of-this-test';

/** An example that is no program: of a language that is not run. */
const example = (language: string, name: string): string =>
  new RegExp(`^\`\`\`${language} ${name}\\n(.*?)^\`\`\`$`, 'ms').exec(page)?.[1] ?? expect.unreachable();

test('the examples work against a server that has recorded a call', async () => {
  await using folder = await temporaryFolder();
  const server = await createServer({ host: '127.0.0.1', port: 0, dataDir: folder.path, adminToken: ADMIN });
  expect(page).toContain(server.calls.replace(folder.path, 'data'));
  const examples = await snippetsOf('docs/records.md', server.url);
  const run = async (script: string) => {
    const env = { ...process.env, TOKEN: ADMIN };
    return (await promisify(execFile)('sh', ['-ec', script.replaceAll('curl ', 'curl -sf ')], { env })).stdout;
  };
  const anna = await connectClient(server.url);
  const { userId } = anna;
  const about = (text: string) => text.replaceAll(/(?<=user=|')anna/g, userId);
  await anna.must('room:create', { name: 'Stand-up', type: 'video', profile: { name: 'Anna', mediaType: 'video' } });
  await anna.must('room:close');
  const list = examples.get('list') ?? expect.unreachable();
  const call = await retry(async () => {
    const { calls, lost } = JSON.parse(await run(list));
    expect(lost).toEqual({ events: 0, signals: 0 });
    return calls[0]?.endedAt ? calls[0] : Promise.reject(new Error('not yet'));
  });
  // As many lines as there are calls, and one for the names of the columns.
  const lines = (await run(about(examples.get('export') ?? ''))).trim().split(/\r?\n/);
  expect(`${lines[0]}\r\n`).toBe(CSV_HEADER);
  expect(lines).toHaveLength(3);
  expect(JSON.parse(lines[2] ?? '')).toEqual(call);
  await anna[Symbol.asyncDispose]();
  await server.close();

  const record = JSON.parse(example('json', 'record'));
  expect(Object.keys(record)).toEqual(Object.keys(call));
  expect(Object.keys(record.sessions[0])).toEqual(Object.keys(call.sessions[0]));
  for (const name of Object.keys(record)) expect(page).toMatch(new RegExp(`^\\| .*\`${name}\`.* \\|`, 'm'));

  const database = openDatabase(`sqlite:${join(folder.path, 'signalbox.db')}`);
  const [{ joinedAt, leftAt }] = call.sessions;
  const bill = example('sql', 'bill').replace(/left_at >= \d+ AND left_at < \d+/, `left_at >= ${leftAt}`);
  expect(await database.rows(bill)).toEqual([{ user_id: userId, minutes: (leftAt - joinedAt) / 60_000 }]);
  for (const statement of about(example('sql', 'forget'))
    .split(';')
    .filter((text) => text.trim() !== '')) {
    expect(await database.run(statement)).toBe(1);
  }
  const kept = await Promise.all(
    ['calls', 'participants', 'signals'].map((table) => database.rows(`SELECT * FROM signalbox_${table}`)),
  );
  expect(JSON.stringify(kept)).toContain('Stand-up');
  expect(JSON.stringify(kept)).not.toMatch(new RegExp(`${userId}|Anna`));
  await database.close();
});

test('the options, reasons, tables and files that the page names exist', () => {
  for (const [name] of page.matchAll(/SIGNALBOX_[A-Z_]+/g)) {
    expect(Object.keys(OPTIONS).map(variableOf)).toContain(name);
  }
  for (const reason of [...CLOSE_REASONS, ...LEAVE_REASONS]) expect(page).toContain(`\`${reason}\``);
  const { feedMaxEvents, callRetentionMs } = readOptions({});
  expect(page).toContain(`\`feedMaxEvents\` (${feedMaxEvents.toLocaleString('en-US')})`);
  expect(page).toContain(`${callRetentionMs / 86_400_000} days`);
  const tables = readFileSync(join(root, 'src/database/migrations.ts'), 'utf8');
  expect(OPTIONS).toHaveProperty('roomMaxAgeMs');
  for (const [table] of page.matchAll(/signalbox_[a-z]+/g)) expect(tables).toContain(table);
  for (const [, path = ''] of page.matchAll(/\]\((?!http)([^)#]+)\)/g)) {
    expect(existsSync(join(root, 'docs', path)), path).toBe(true);
  }
});
