/** The SDK leaves no timer, socket or listener behind, and a program that has closed its clients exits by itself. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Nodes, startNodes } from '../support/nodes.ts';
import { freePort, type RunningChild, startChild } from '../support/process.ts';
import { startProxy } from '../support/proxy.ts';
import { TcpSwitch } from './tcp-switch.ts';

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes({ kind: 'redis', count: 2 });
});
afterAll(() => nodes[Symbol.asyncDispose]());

/** Runs a program that uses the SDK and does not call `exit`. */
function run(url: string, program: string): Promise<RunningChild> {
  const prelude = `
    import { connect } from './src/client/index.ts';
    const url = ${JSON.stringify(url)};
    const next = (subject, name, fits = () => true) =>
      new Promise((resolve) => subject.on(name, (body) => fits(body) && resolve(body)));
  `;
  return startChild({
    command: process.execPath,
    args: ['--expose-gc', '--import', 'tsx', '--input-type=module', '--eval', prelude + program],
  });
}

const DONE = { code: 0, signal: null };
/** One connection, Socket.IO's ping timeout, and our heartbeat. */
const STEADY = ['TCPSocketWrap', 'Timeout', 'Timeout'];

test.each(['await client.close();', 'await room.leave(); await client.close();', 'client.close();'])(
  'a client that is closed keeps nobody: %s',
  async (end) => {
    await using child = await run(
      nodes.url(0),
      `
      // The first timer and the first connection stay: later ones must not.
      const client = connect(url);
      const room = await client.create();
      await room.message('x');
      ${end}
      console.log(client.state);
    `,
    );
    expect(await child.exited).toEqual(DONE);
    expect(child.lines).toEqual(['closed']);
  },
);

test('a program exits after close() before the first connection, with requests that wait', async () => {
  await using child = await run(
    `http://127.0.0.1:${await freePort()}`,
    `
    const early = connect(url);
    await early.close();
    const client = connect(url, { backoff: { baseMs: 1e9, maxMs: 1e9 } });
    const waiting = [client.create(), client.join('123456'), client.ready()];
    await next(client, 'retry');
    await client.close();
    const results = await Promise.allSettled(waiting);
    console.log(results.map(({ reason }) => reason.code).join(' '));
  `,
  );
  expect(await child.exited).toEqual(DONE);
  expect(child.lines).toEqual(['CLOSED CLOSED CLOSED']);
});

test('a program exits after close() on a dead connection, during requests', async () => {
  await using proxy = await startProxy(nodes.servers[0]?.port ?? 0);
  await using child = await run(
    `http://127.0.0.1:${proxy.port}`,
    `
    const client = connect(url);
    const room = await client.create();
    room.on('message', async () => {
      console.log('heard');
      const asked = Promise.allSettled([room.message('lost'), room.update({ name: 'lost' }), client.create()]);
      await client.close();
      console.log((await asked).map(({ reason }) => reason.code).join(' '), client.state);
    });
    await room.message('freeze').catch(() => {});
  `,
  );
  proxy.onDown((chunk) => chunk.includes('freeze') && setImmediate(() => proxy.freeze()));
  await child.line(/closed/);
  expect(child.lines).toEqual(['heard', 'CLOSED CLOSED CLOSED closed']);
  // Node's WebSocket waits half a minute for the close frame of the other side. Nothing of ours does.
  proxy.thaw();
  expect(await child.exited).toEqual(DONE);
});

test('a hundred reconnects to two nodes in turn leave as many sockets, timers and bytes as before', async () => {
  await using tcp = await TcpSwitch.to(nodes.servers[0]?.port ?? 0);
  await using child = await run(
    tcp.url,
    `
    const client = connect(url, { backoff: { baseMs: 5, maxMs: 5 } });
    const room = await client.create();
    let count = 0;
    client.on('state', (state) => state === 'online' && console.log('online', ++count));
    room.on('ended', ({ reason }) => console.log('ended', reason));
    process.on('SIGUSR2', () => {
      gc();
      gc();
      const resources = process.getActiveResourcesInfo().filter((name) => !/Immediate|Pipe/.test(name)).sort();
      console.log('stock', JSON.stringify({ resources, heap: process.memoryUsage().heapUsed }));
    });
    process.on('SIGTERM', () => client.close());
    console.log('online', count);
  `,
  );
  const stock = async (): Promise<{ resources: string[]; heap: number }> => {
    const before = child.lines.length;
    child.signal('SIGUSR2');
    await expect
      .poll(() => child.lines.slice(before).some((line) => line.startsWith('stock')), { timeout: 30_000 })
      .toBe(true);
    return JSON.parse(child.lines.findLast((line) => line.startsWith('stock'))?.slice('stock '.length) ?? '');
  };
  const reconnect = async (from: number, to: number) => {
    for (let count = from; count <= to; count += 1) {
      tcp.switchTo(nodes.servers[count % 2]?.port ?? 0);
      tcp.cut();
      await child.line(new RegExp(`^online ${count}$`));
    }
  };
  await child.line(/^online 0$/);
  /** Resolves when a request on the new connection is answered. */
  const atRest = async () => {
    await expect.poll(async () => (await stock()).resources, { timeout: 30_000 }).toEqual(STEADY);
    return (await stock()).heap;
  };
  await reconnect(1, 30);
  const before = await atRest();
  await reconnect(31, 130);
  const after = await atRest();
  process.stdout.write(`heap after 30 reconnects ${before} bytes, after 130 ${after} bytes\n`);
  expect(after).toBeLessThan(before * 1.1);
  expect([tcp.open, tcp.welcomes]).toEqual([1, 131]);
  child.signal('SIGTERM');
  expect(await child.exited).toEqual(DONE);
  expect(child.lines.filter((line) => line.startsWith('ended'))).toEqual(['ended left']);
});
