/**
 * The mesh in a real browser, with real WebRTC. Only the network between two meshes is made up, so that it loses, repeats,
 * delays and mixes up what it is told to; the pages that do it are in `mesh/`.
 */
import { createHmac } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, type Person, type TestBrowser } from '../support/browser.ts';
import { startCoturn } from '../support/coturn.ts';
import { type PageServer, startPageServer } from '../support/page-server.ts';
import type { Scenarios } from './mesh/page.ts';

const SECRET = 'a secret of this test';
const NOTHING = { connections: 0, timers: 0, trackListeners: 0 };

let browser: TestBrowser;
let site: PageServer;

beforeAll(async () => {
  [browser, site] = await Promise.all([launchBrowser(), startPageServer()]);
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    build: {
      write: false,
      target: 'es2022',
      minify: false,
      modulePreload: false,
      rolldownOptions: { input: fileURLToPath(new URL('mesh/page.ts', import.meta.url)) },
    },
  });
  const [script] = 'output' in built ? built.output : [];
  if (script === undefined) throw new Error('nothing was built');
  site.put('/mesh.js', script.code);
  site.put('/', '<!doctype html><title>mesh</title><script type="module" src="/mesh.js"></script>');
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await site?.[Symbol.asyncDispose]();
});

/** A page of its own, on which no error may go unhandled. */
class Stage implements AsyncDisposable {
  readonly #person: Person;

  constructor(person: Person) {
    this.#person = person;
  }

  run<Name extends keyof Scenarios>(
    name: Name,
    ...args: Parameters<Scenarios[Name]>
  ): Promise<Awaited<ReturnType<Scenarios[Name]>>> {
    return this.#person.page.evaluate(`scenarios.${name}(...${JSON.stringify(args)})`);
  }

  /** As after a page load: a browser gives a page a number of connections, closed ones counted until they are swept up. */
  async anew(): Promise<void> {
    await this.#person.page.reload();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { complaints } = this.#person;
    await this.#person[Symbol.asyncDispose]();
    expect(complaints).toEqual([]);
  }
}

/** As the server gives them out. */
function credentials(): { username: string; credential: string } {
  const username = `${Math.ceil(Date.now() / 1000) + 600}:ada`;
  return { username, credential: createHmac('sha1', SECRET).update(username).digest('base64') };
}

const open = async (): Promise<Stage> => new Stage(await browser.person(`${site.origin}/`));

test('500 couples that begin at the same moment and share at the same moment: none is stuck', async () => {
  const COUPLES = 500;
  const PER_PAGE = 50;
  await using one = await open();
  await using other = await open();
  const pages = [one, other];
  const found = await Promise.all(
    pages.map(async (page, index) => {
      const glares = [];
      for (let from = index * PER_PAGE; from < COUPLES; from += pages.length * PER_PAGE) {
        glares.push(await page.run('glare', from, from + PER_PAGE, 3));
        expect(await page.run('counted')).toEqual(NOTHING);
        await page.anew();
      }
      return glares;
    }),
  );
  const glares = found.flat();
  expect(glares.flatMap(({ stuck }) => stuck)).toEqual([]);
  expect(glares.reduce((sum, { met }) => sum + met, 0)).toBe(COUPLES);
  process.stdout.write(`slowest of ${COUPLES} couples: ${Math.max(...glares.map(({ slowestMs }) => slowestMs))} ms\n`);
});

test('what is lost is sent again, on the same connections', async () => {
  await using page = await open();
  await page.run('hurry', 3);
  expect(await page.run('lost', 'offer', 1)).toBe(2);
  expect(await page.run('lost', 'answer', 1)).toBe(2);
  expect(await page.run('lost', 'candidate', 2)).toBe(2);
});

test('an answer that is late or lost is not taken for two offers that met: nothing waits for the next try', async () => {
  await using page = await open();
  expect(await page.run('overtakenAnswer')).toBeLessThan(4_000);
  expect(await page.run('unheardAnswer')).toBeLessThan(4_000);
});

test('three do whatever they can do, in a bad network: once it is good, all is well', async () => {
  const SEEDS = [1, 2, 3, 4];
  const found = await Promise.all(
    SEEDS.map(async (seed) => {
      await using page = await open();
      await page.run('hurry', 10);
      const wrong = await page.run('randomActions', seed, 40);
      expect(await page.run('counted')).toEqual(NOTHING);
      return wrong;
    }),
  );
  expect(found.flat()).toEqual([]);
});

test('in a network that loses, repeats and mixes up signals, all is well in the end', async () => {
  await using page = await open();
  await page.run('hurry', 10);
  for (const seed of [1, 2, 3]) expect(await page.run('mess', 12, seed)).toEqual([]);
});

test('what belongs to an earlier attempt, or to a page that is gone, changes nothing', async () => {
  await using page = await open();
  for (const who of ['early', 'late'] as const) {
    const [made, afterwards] = await page.run('ghosts', who);
    expect(made).toBe(2);
    expect(afterwards).toBe(made);
  }
  await page.run('answeredByNext');
  await page.run('hurry', 10);
  const [made, afterwards] = await page.run('latecomers');
  expect(afterwards).toBe(made);
});

test.each([[['early']], [['late']], [['early', 'late']], [['late', 'early']]] as const)(
  '%s: pages are refreshed',
  async (who) => {
    await using page = await open();
    const { made, ms, states } = await page.run('refresh', ...who);
    expect(made).toBe(2);
    // It was told of, and not waited for: the first greeting that is repeated is four seconds later.
    expect(ms).toBeLessThan(4_000);
    expect(states.flat()).not.toContain('failed');
  },
);

test.each(['early', 'late'] as const)(
  'the %s one loses the server for a while: the same connection, and the pictures flow',
  async (who) => {
    await using page = await open();
    const { made, attempts, states } = await page.run('blink', who);
    expect(made).toBe(2);
    expect(attempts).toBe(2);
    expect(states).toEqual([
      ['connecting', 'connected'],
      ['connecting', 'connected'],
    ]);
  },
);

test('seats: another one has another part, whoever is away is left alone, whoever leaves is gone', async () => {
  await using page = await open();
  // With the greater number it is the one that offers now.
  expect(await page.run('rejoin')).toEqual(['early']);
  expect(await page.run('away')).toEqual({ made: 0, madeThen: 2, peers: [0, 0] });
});

test('signals that are refused are sent again in order; without an answer each attempt takes longer', async () => {
  await using page = await open();
  const { tries, order } = await page.run('refused');
  expect(tries).toBe(3);
  expect(order.indexOf('candidate')).toBeGreaterThan(order.indexOf('offer'));
  const { states, connections, waits } = await page.run('unanswered');
  expect(states).toEqual(['connecting', 'failed']);
  expect(connections).toBe(1);
  expect(waits).toEqual(waits.toSorted((one, other) => one - other));
  expect(Math.max(...waits)).toBeGreaterThan(2 * Math.min(...waits));
});

// The browser takes its time to say that a connection has failed: these two wait side by side.
test.concurrent('what cannot be repaired is made anew', async ({ expect }) => {
  await using page = await open();
  const { states } = await page.run('beyondRepair');
  expect(states).toEqual([['connecting', 'connected', 'connecting', 'failed', 'connected']]);
});

test.concurrent('a relay that is out of order for a while: the same connection is repaired', async ({ expect }) => {
  await using coturn = await startCoturn({ secrets: [SECRET] });
  await using page = await open();
  await page.run('beginRelayed', [{ urls: [coturn.url('udp')], ...credentials() }]);
  expect(await page.run('relayedStats')).toMatchObject({ route: 'relay', transport: 'udp' });
  process.kill(coturn.pid, 'SIGSTOP');
  await expect.poll(() => page.run('relayedStates'), { timeout: 60_000 }).toEqual(['failed', 'failed']);
  process.kill(coturn.pid, 'SIGCONT');
  await expect.poll(() => page.run('relayedStates'), { timeout: 60_000 }).toEqual(['connected', 'connected']);
  const frames = await page.run('relayedFrames');
  await expect
    .poll(() => page.run('relayedFrames'))
    .toSatisfy((now: number[]) => now.every((one, i) => one > (frames[i] ?? 0)));
  expect(await page.run('connectionsMade')).toBe(2);
  await page.run('endRelayed');
});

test('cameras and microphones come and go without a negotiation', async () => {
  await using page = await open();
  const [before, after] = await page.run('switching');
  expect(after).toBe(before);
});

test('screens beside cameras take one negotiation for each change: shared, ended, shared again, ended by the browser', async () => {
  await using page = await open();
  const { tracks, places, told, negotiations } = await page.run('sharing');
  expect(tracks).toEqual([
    [2, 1, 2, 1],
    [2, null, 2, null],
    [2, null, 2, 2],
    [2, null, 2, 2],
    [2, null, 2, null],
    [2, null, 2, 1],
  ]);
  expect(places).toEqual([4, 4, 5, 5, 5, 5]);
  expect(told).toEqual(['screen', null, 'screen', null, 'screen', null]);
  expect(negotiations).toEqual({ shared: 1, muted: 0, ended: 1, sharedAgain: 1 });
  expect(await page.run('three')).toEqual([2, 2, 2]);
});

test('data: both ways, not too much, and nothing that a peer puts on the channel does harm', async () => {
  await using page = await open();
  expect(await page.run('spoken')).toEqual({
    heard: [
      ['early', { deep: [1, null, 'ä€'] }],
      ['late', 'back'],
    ],
    refused: [false, false, true, true],
    afterwards: false,
  });
  expect(await page.run('garbage')).toEqual([{}, expect.any(String)]);
  expect(await page.run('nonsense')).toBeGreaterThan(0);
});

test.each(['early', 'late'] as const)('a peer that knows nothing of this SDK, as the %s one', async (who) => {
  await using page = await open();
  expect(await page.run('simple', who)).toEqual({ canSend: false, sent: [who], again: true, back: true });
});

test('servers: fresh ones are used at once, and each fault is told once', async () => {
  await using page = await open();
  const told = await page.run('servers');
  expect(told).toEqual([...Array.from({ length: 6 }, () => 'fresh'), 0]);
  expect(await page.run('faults')).toEqual([
    { url: 'turn:one', code: 401, text: 'no' },
    { url: 'turn:two', code: 486, text: 'no' },
  ]);
});

test('figures of a connection', async () => {
  await using page = await open();
  const { none, first, second } = await page.run('figures');
  expect(none).toMatchObject({ route: null, transport: null, roundTripMs: null, bytesReceived: 0 });
  expect(first).toMatchObject({ route: 'direct', transport: 'udp', sentBitsPerSecond: 0, receivedBitsPerSecond: 0 });
  expect(second.roundTripMs).toBeLessThan(1_000);
  expect(second.receivedBitsPerSecond).toBeGreaterThan(0);
  expect(second.receivedBitsPerSecond).toBeLessThan(5_000_000);
  expect(second.bytesReceived).toBeGreaterThan(first.bytesReceived);
  expect(second.lossRate).toBeLessThanOrEqual(1);
});

test('closed at whatever moment, nothing is left', async () => {
  await using page = await open();
  const left = await page.run('closing');
  expect(left).toEqual(left.map(() => NOTHING));
});
