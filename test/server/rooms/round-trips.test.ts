/**
 * How often a request makes its node wait for Redis, and with which commands: listened to on the line between them. The
 * table in docs/architecture.md is this one.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadScripts } from '../../../src/engine/redis/scripts.ts';
import { loadProbeScript } from '../../../src/redis/write-probe.ts';
import { connectClient, type TestClient } from '../../support/client.ts';
import type { TcpProxy } from '../../support/proxy.ts';
import { tokenOf } from '../scenarios/members.ts';
import { type SlowLinkNodes, startSlowLinkNodes } from '../slow-link-nodes.ts';

/** Longer than a machine with other work keeps this process waiting: what is sent after an answer must be heard after it. */
const ROUND_TRIP_MS = 60;

const PROBES = new RegExp(`^${loadProbeScript().sha}$|#probe#`);
const SCRIPTS = new Map(Object.entries(loadScripts()).map(([name, { sha }]) => [sha, name]));

/**
 * Commands by their plain names; scripts by the names of theirs. node-redis' own pings are not ours, the probes belong to no
 * request, and channels are unsubscribed in their own time, whatever is asked for meanwhile.
 */
function commandsIn(chunk: Buffer): string[] {
  const text = chunk.toString('latin1');
  return [...text.matchAll(/\*\d+\r\n\$\d+\r\n([A-Za-z]+)\r\n(?:\$\d+\r\n(\S+)\r\n)?/g)].flatMap(
    ([, command = '', first = '']) => {
      const name = command.toLowerCase();
      if (name === 'ping' || name === 'sunsubscribe' || PROBES.test(first)) return [];
      return [name === 'evalsha' ? (SCRIPTS.get(first) ?? 'unknown script') : name];
    },
  );
}

/**
 * Commands that reach Redis before an answer to one of them has come back share a round trip. The line is slow, so what
 * has not even reached Redis when the client has its answer was not waited for.
 */
async function costOf({ servers, links: [line] }: SlowLinkNodes, request: () => Promise<unknown>): Promise<string> {
  await servers[0]?.engine.nodes();
  const { waves, stop } = listen(line ?? expect.unreachable());
  await request();
  const waited = waves.splice(0);
  // Its answer comes after that of whatever was sent before it: what was not waited for has been heard by then.
  await servers[0]?.engine.nodes();
  stop();
  const loose = waves.flat().filter((name) => name !== 'pubsub');
  return ` ${waited.length} | ${waited.map(inWords).join('; then ') || '-'} | ${inWords(loose) || '-'} |`;
}

function listen(line: TcpProxy) {
  const waves: string[][] = [];
  let answered = true;
  const stopUp = line.onUp((chunk) => {
    const commands = commandsIn(chunk);
    if (commands.length === 0) return;
    if (answered) waves.push([]);
    answered = false;
    waves.at(-1)?.push(...commands);
  });
  const stopDown = line.onDown(() => {
    answered = true;
  });
  return {
    waves,
    stop: () => {
      stopUp();
      stopDown();
    },
  };
}

function inWords(commands: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of commands.toSorted()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count === 1 ? `\`${name}\`` : `${count} \`${name}\``)).join(', ');
}

let nodes: SlowLinkNodes;
beforeAll(async () => {
  nodes = await startSlowLinkNodes(2, ROUND_TRIP_MS);
});
afterAll(() => nodes[Symbol.asyncDispose]());

/** Ann's node is the one listened to; Ben's is the other one. */
async function table(): Promise<string> {
  await using ann = await connectClient(nodes.url(0));
  await using ben = await connectClient(nodes.url(1));
  await using cat = await connectClient(nodes.url(0));
  const { code, ref } = (await ben.must('room:create')).room;
  const { room: other } = await cat.must('room:create');
  const nobodys = other.code.replace(/.$/, (digit) => `${9 - Number(digit)}`);
  const opened: TestClient[] = [];
  const connect = async (resume?: string) =>
    opened.push(await connectClient(nodes.url(0), resume === undefined ? {} : { resume }));
  const rows: [string, () => Promise<unknown>][] = [
    ['`room:create`', () => ann.must('room:create')],
    ['`room:update`', () => ann.must('room:update', { name: 'Yard' })],
    ['`room:close`', () => ann.must('room:close')],
    ['`room:join`', () => ann.must('room:join', { code })],
    ['`room:join` with `ref`, from another room', () => cat.must('room:join', { code, ref })],
    ['`room:join`, no such code', () => ann.refused('room:join', { code: nobodys })],
    ['`room:get`', () => ann.must('room:get')],
    ['`profile`', () => ann.must('profile', { name: 'Ann' })],
    ['`heartbeat`', () => ann.must('heartbeat')],
    ['`message`', () => ann.must('message', { data: 1 })],
    ['`signal` to a member on another node', () => ann.must('signal', { to: ben.userId, data: 1 })],
    [
      '`signal` of more than 16 KiB to another node',
      () => ann.must('signal', { to: ben.userId, data: 'x'.repeat(16_383) }),
    ],
    ['`signal` to nobody', () => ann.refused('signal', { to: 'nobody', data: 1 })],
    ['`signal` of more than 16 KiB to nobody', () => ann.refused('signal', { to: 'nobody', data: 'x'.repeat(16_383) })],
    ['`signal` to a member on the same node', () => ann.must('signal', { to: cat.userId, data: 1 })],
    ['`room:leave`', () => ann.must('room:leave')],
    ['connecting', () => connect()],
  ];
  let text = '';
  // The connections that rows open live to the end: to close them is not part of the row.
  for (const [name, request] of rows) text += `| ${name} |${await costOf(nodes, request)}\n`;
  ben.cut();
  await cat.next('member:away');
  text += `| connecting again, to a seat |${await costOf(nodes, () => connect(tokenOf(ben)))}\n`;
  for (const client of opened) client.socket.disconnect();
  return text;
}

// A pause of the machine at the wrong moment can make what was not waited for look as if it were: measured again then.
test('the round trips of every request', { retry: 2 }, async () => {
  const text = await table();
  expect(text).toMatch(/^\| `room:create` \| 1 /m);
  expect(text).toMatch(/^\| `room:leave` \| 1 /m);
  expect(text).toMatch(/^\| `room:join` \| 3 /m);
  expect(text).toMatch(/^\| `signal` to a member on the same node \| 0 /m);
  const page = readFileSync(new URL('../../../docs/architecture.md', import.meta.url), 'utf8');
  // Without the padding of its columns.
  expect(page.replaceAll(/ +/g, ' ')).toContain(text);
});
