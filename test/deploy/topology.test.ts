/** The topology of docker-compose.yml as processes: Redis, three nodes, and nginx with the file that it mounts. */
import { fileURLToPath } from 'node:url';
import { createClient } from 'redis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Caller } from '../browser/harness.ts';
import { launchBrowser, type TestBrowser } from '../support/browser.ts';
import { connectClient } from '../support/client.ts';
import { type NginxServer, startNginx } from '../support/nginx.ts';
import { type RunningChild, startChild } from '../support/process.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const NODES = ['node1', 'node2', 'node3'];

let redis: RedisServer;
let nodes: RunningChild[];
let nginx: NginxServer;
let browser: TestBrowser;

beforeAll(async () => {
  [redis, browser] = await Promise.all([startRedis(), launchBrowser()]);
  nodes = await Promise.all(NODES.map((nodeId) => startNode(nodeId, redis.url)));
  nginx = await startNginx({ upstreams: await Promise.all(nodes.map(addressOf)) });
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await nginx?.[Symbol.asyncDispose]();
  await Promise.all((nodes ?? []).map((node) => node.stop()));
  await redis?.stop();
});

test('two browsers on two nodes call each other through nginx, media both ways', async () => {
  const ada = await openPage('Ada');
  const code = await ada.create();
  const bob = await openPage('Bob');
  await bob.type(code);
  process.stdout.write(`join to media through nginx: ${await bob.join()} ms\n`);
  await Promise.all([ada.hasMedia(1), bob.hasMedia(1)]);
  expect(await nodeOf(await ada.demo('userId'))).not.toBe(await nodeOf(await bob.demo('userId')));
  expect([...ada.person.complaints, ...bob.person.complaints]).toEqual([]);
});

test('a browser and a peer written from the docs send each other pictures', async () => {
  const ada = await openPage('Ada');
  const code = (await ada.create()).replace(' ', '');
  await using robot = await startChild({
    command: process.execPath,
    args: ['test/support/node-peer.mjs', nginx.url, code],
    cwd: root,
  });
  await robot.line(/^frames \d+$/);
  await ada.hasMedia(1);
  await ada.read('Robot');
  expect(robot.lines.filter((line) => /failed|refused/.test(line))).toEqual([]);
});

test('nginx reaches every node, and skips one that has died', async () => {
  expect(await nodesSeenBy(6)).toEqual(new Set(NODES));
  await nodes[2]?.kill();
  expect(await nodesSeenBy(6)).toEqual(new Set(['node1', 'node2']));
});

/** The nodes that so many clients at once are sent to. */
async function nodesSeenBy(count: number): Promise<Set<string>> {
  const clients = await Promise.all(Array.from({ length: count }, () => connectClient(nginx.url)));
  const seen = new Set(clients.map((client) => client.all('welcome')[0]?.nodeId ?? ''));
  await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  return seen;
}

async function startNode(nodeId: string, redisUrl: string): Promise<RunningChild> {
  return await startChild({
    command: process.execPath,
    args: ['dist/cli/main.js', 'serve'],
    cwd: root,
    env: {
      HOST: '127.0.0.1',
      PORT: '0',
      REDIS_URL: redisUrl,
      SIGNALBOX_NODE_ID: nodeId,
      SIGNALBOX_SECRET: 'the same on every node',
      SIGNALBOX_TRUSTED_PROXIES: '127.0.0.1',
    },
    ready: /codes +[\d,]+ free/,
  });
}

/** `host:port`, from the block that a node prints. */
async function addressOf(node: RunningChild): Promise<string> {
  const line = await node.line(/address +http/);
  return new URL(line.trim().split(/\s+/)[1] ?? '').host;
}

async function openPage(name: string): Promise<Caller> {
  // A camera is given to localhost only.
  const caller = new Caller(await browser.person(`http://localhost:${nginx.port}/`));
  await caller.see('#lobby');
  await caller.page.getByLabel('Your name').fill(name);
  return caller;
}

async function nodeOf(userId: string | null): Promise<string | null> {
  const client = createClient({ url: redis.url });
  await client.connect();
  try {
    return await client.hGet(`sb:{u:${userId}}`, 'serverId');
  } finally {
    client.destroy();
  }
}
