/**
 * A page with a running call loses its connection a hundred times and reconnects to another node. Afterwards it holds
 * what it held before: sockets, listeners, peer connections, memory.
 */
import type { CDPSession, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { startNodes } from '../support/nodes.ts';
import { startPageServer } from '../support/page-server.ts';
import { startProxy } from '../support/proxy.ts';

const ROUNDS = 100;
const PATIENCE = { timeout: 30_000, interval: 20 };
/** The first rounds fill caches that are filled once. */
const WARM_UP = 20;

test(`${ROUNDS} reconnects on rotating nodes leave nothing behind`, async () => {
  await using nodes = await startNodes({ kind: 'redis', count: 3 }, { graceMs: 60_000 });
  const [first] = nodes.servers;
  if (first === undefined) throw new Error('no node was started');
  await using proxy = await startProxy(first.port);
  await using site = await startPageServer();
  await using browser = await launchBrowser();
  site.put('/stays', page(first.url, first.url));
  site.put('/moves', page(first.url, `http://localhost:${proxy.port}`));
  await using stays = await browser.person(`${site.origin}/stays`);
  await expect.poll(() => stays.page.evaluate('location.hash.length'), PATIENCE).toBe(7);
  await using moves = await browser.person(`${site.origin}/moves${await stays.page.evaluate<string>('location.hash')}`);
  await isConnected(moves.page, 0);
  const devtools = await moves.context.newCDPSession(moves.page);

  const next = async (round: number): Promise<void> => {
    proxy.turnTo(nodes.servers[round % 3]?.port ?? 0);
    proxy.cut();
    proxy.heal();
    await isConnected(moves.page, round);
  };
  for (let round = 1; round <= WARM_UP; round += 1) await next(round);
  const before = await holdings(moves.page, devtools);
  const kept = await moves.page.evaluate('[...calls.peers.values()][0].stream.id');
  for (let round = WARM_UP + 1; round <= ROUNDS + WARM_UP; round += 1) await next(round);
  const after = await holdings(moves.page, devtools);

  process.stdout.write(`after ${ROUNDS} reconnects: ${JSON.stringify(after)}, before: ${JSON.stringify(before)}\n`);
  const { heapBytes, ...counts } = after;
  expect(counts).toEqual({ sockets: 1, peerConnections: 1, listeners: before.listeners, members: 2 });
  expect(heapBytes).toBeLessThan(before.heapBytes * 1.1);
  // The call itself was never interrupted.
  expect(await moves.page.evaluate('[...calls.peers.values()][0].stream.id')).toBe(kept);
  expect(await moves.page.evaluate('made.peerConnections')).toBe(1);
}, 300_000);

interface Holdings {
  readonly sockets: number;
  readonly peerConnections: number;
  readonly listeners: number;
  readonly members: number;
  readonly heapBytes: number;
}

/** So often back, online, and the call runs. The page itself waits for it: what asks it again and again fills its heap. */
async function isConnected(page: Page, resumes: number): Promise<void> {
  await page.waitForFunction('globalThis.calls');
  expect(await page.evaluate(`isConnected(${resumes})`)).toBe(`${resumes} online connected`);
}

async function holdings(page: Page, devtools: CDPSession): Promise<Holdings> {
  const counts = await page.evaluate<Omit<Holdings, 'heapBytes'>>('count()');
  return { ...counts, heapBytes: await reachableBytes(devtools) };
}

/** Everything that can be reached, object by object: the browser's own figure counts what it has not yet thrown away. */
async function reachableBytes(devtools: CDPSession): Promise<number> {
  const chunks: string[] = [];
  const collect = ({ chunk }: { chunk: string }): number => chunks.push(chunk);
  devtools.on('HeapProfiler.addHeapSnapshotChunk', collect);
  await devtools.send('HeapProfiler.takeHeapSnapshot');
  devtools.off('HeapProfiler.addHeapSnapshotChunk', collect);
  const { snapshot, nodes }: HeapSnapshot = JSON.parse(chunks.join(''));
  const fields = snapshot.meta.node_fields;
  const size = fields.indexOf('self_size');
  let total = 0;
  for (let at = size; at < nodes.length; at += fields.length) total += nodes[at] ?? 0;
  return total;
}

/** As much of the format as is read here: the fields of every node, one after the other. */
interface HeapSnapshot {
  readonly snapshot: { readonly meta: { readonly node_fields: readonly string[] } };
  readonly nodes: readonly number[];
}

/** Counts what a page opens and closes, adds and takes away. Opens a room, or joins the one of its address. */
const page = (server: string, url: string): string => `<!doctype html><title>Soak</title>
  <script>
    made = { peerConnections: 0 };
    const live = new Set();
    globalThis.WebSocket = class extends WebSocket {
      constructor(...all) {
        super(...all);
        live.add(this);
      }
    };
    globalThis.RTCPeerConnection = class extends RTCPeerConnection {
      constructor(...all) {
        super(...all);
        live.add(this);
        made.peerConnections += 1;
      }
    };
    let listeners = 0;
    for (const target of [window, document]) {
      const { addEventListener, removeEventListener } = target;
      target.addEventListener = (...all) => { listeners += 1; addEventListener.apply(target, all); };
      target.removeEventListener = (...all) => { listeners -= 1; removeEventListener.apply(target, all); };
    }
    count = () => {
      for (const one of live) if (one.readyState > 1 || one.connectionState === 'closed') live.delete(one);
      const sockets = [...live].filter((one) => one instanceof WebSocket).length;
      return { sockets, peerConnections: live.size - sockets, listeners, members: room.members.length };
    };
  </script>
  <script type="module">
    import { connect, mesh } from '${server}/signalbox.js';
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    globalThis.resumes = 0;
    globalThis.client = connect('${url}', { backoff: { baseMs: 1, maxMs: 100 } });
    const code = location.hash.slice(1);
    globalThis.room = await (code ? client.join(code) : client.create());
    location.hash = room.code;
    room.on('resumed', () => { resumes += 1; });
    const state = () => [resumes, client.state, ...[...calls.peers.values()].map(({ state }) => state)].join(' ');
    globalThis.isConnected = async (resumes) => {
      for (let tries = 0; tries < 1500 && state() !== resumes + ' online connected'; tries += 1) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return state();
    };
    globalThis.calls = mesh(room, { stream });
  </script>`;
