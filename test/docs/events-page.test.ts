/** Facts and examples of `docs/events.md`, checked against the source and a running server. */
import { readFileSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { FEED, feedEvent } from '../../src/protocol/feed.ts';
import { connectClient } from '../support/client.ts';
import { type Nodes, startNodes } from '../support/nodes.ts';
import { startChild, temporaryFolder } from '../support/process.ts';
import { snippetsOf } from './snippets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = 'docs/events.md';
const page = readFileSync(join(root, PAGE), 'utf8');

async function exampleOf(name: string, nodes: Nodes): Promise<string> {
  const example = (await snippetsOf(PAGE, '')).get(name) ?? expect.unreachable();
  return example.replaceAll('redis://localhost:6379', nodes.redis?.url ?? expect.unreachable());
}

/** A room that somebody comes to and leaves: seven events. */
async function playMeeting(nodes: Nodes): Promise<string> {
  await using ann = await connectClient(nodes.url(0));
  await using ben = await connectClient(nodes.url(1));
  const { room } = await ann.must('room:create');
  await ben.must('room:join', { code: room.code });
  await ben.must('room:leave');
  await ann.must('room:close');
  return room.ref;
}

test('the page lists every event type with its own fields', () => {
  const rows = [...page.matchAll(/^\| `([a-z_]+)` +\| [^|]* \|([^|]*)\|/gm)];
  const common = ['id', 'type', 'code', 'ref', 'rev', 'userId', 'serverId', 'timestamp'];
  expect(Object.fromEntries(rows.map(([, type, rest]) => [type, rest?.match(/\w+/g) ?? []]))).toEqual(
    Object.fromEntries(
      Object.entries(FEED).map(([type, { body }]) => [
        type,
        Object.keys(body.shape).filter((key) => !common.includes(key)),
      ]),
    ),
  );
});

test('the example of an event is a valid event', () => {
  const example = JSON.parse(/^```json\n(.*?)^```$/ms.exec(page)?.[1] ?? '');
  expect(feedEvent.parse(example)).toEqual(example);
});

test('the example of the channel works with redis-cli', async () => {
  await using nodes = await startNodes({ kind: 'redis', count: 2 });
  const [command = '', ...args] = (await exampleOf('channel', nodes)).trim().split(' ');
  await using listening = await startChild({ command, args, ready: /subscribe/ });
  const ref = await playMeeting(nodes);
  const last = await listening.line(new RegExp(`"room_destroyed".*"${ref}"`));
  expect(feedEvent.parse(JSON.parse(last))).toMatchObject({ rev: 5, reason: 'closed' });
  const heard = listening.lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  expect(heard.map(({ rev }) => rev)).toEqual([0, 1, 2, 3, 4, 5]);
});

test('the example of the stream loses nothing when its consumer is killed and starts again', async () => {
  await using nodes = await startNodes({ kind: 'redis', count: 2 });
  await using folder = await temporaryFolder();
  await symlink(join(root, 'node_modules'), join(folder.path, 'node_modules'), 'dir');
  const program = join(folder.path, 'worker.mjs');
  await writeFile(program, await exampleOf('stream', nodes));
  const start = () => startChild({ command: process.execPath, args: [program], ready: /user_|room_/ });
  const refs = [await playMeeting(nodes)];
  const lines: string[] = [];
  for (const round of [0, 1]) {
    await using worker = await start();
    refs.push(await playMeeting(nodes));
    await worker.line(new RegExp(`^${refs.at(-1)}:5 room_destroyed`));
    lines.push(...worker.lines);
    await worker.kill();
    if (round === 0) refs.push(await playMeeting(nodes));
  }
  const ids = lines.map((line) => line.split(' ')[0]);
  expect(ids).toEqual(refs.flatMap((ref) => [0, 1, 2, 3, 4, 5].map((rev) => `${ref}:${rev}`)));
});
