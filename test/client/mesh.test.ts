/**
 * The mesh in a real browser, with real WebRTC. Only the server is a fake, so that signals can be lost, repeated, delayed
 * and reordered. The scenarios that run in the page are in `mesh/`.
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

/** A page of its own, without uncaught errors. */
class TestPage implements AsyncDisposable {
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

  /** A page may have a limited number of connections; closed ones count until they are collected. */
  async reload(): Promise<void> {
    await this.#person.page.reload();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { complaints } = this.#person;
    await this.#person[Symbol.asyncDispose]();
    expect(complaints).toEqual([]);
  }
}

/** TURN credentials as the server makes them. */
function credentials(): { username: string; credential: string } {
  const username = `${Math.ceil(Date.now() / 1000) + 600}:ada`;
  return { username, credential: createHmac('sha1', SECRET).update(username).digest('base64') };
}

const open = async (): Promise<TestPage> => new TestPage(await browser.person(`${site.origin}/`));

test('500 pairs that offer and share at the same moment: all connect', async () => {
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
        await page.reload();
      }
      return glares;
    }),
  );
  const glares = found.flat();
  expect(glares.flatMap(({ stuck }) => stuck)).toEqual([]);
  expect(glares.reduce((sum, { met }) => sum + met, 0)).toBe(COUPLES);
  process.stdout.write(`slowest of ${COUPLES} couples: ${Math.max(...glares.map(({ slowestMs }) => slowestMs))} ms\n`);
});

test('lost signals are sent again, on the same connections', async () => {
  await using page = await open();
  await page.run('speedUpTimers', 3);
  expect(await page.run('lostSignals', 'offer', 1)).toBe(2);
  expect(await page.run('lostSignals', 'answer', 1)).toBe(2);
  expect(await page.run('lostSignals', 'candidate', 2)).toBe(2);
});

test.each(['PEER_AWAY', 'STORE_UNAVAILABLE', 'TIMEOUT'] as const)(
  'a negotiation whose offer, answer or candidates end in %s comes to its end',
  async (code) => {
    await using page = await open();
    await page.run('speedUpTimers', 3);
    await Promise.all((['offer', 'answer', 'candidate'] as const).map((kind) => page.run('lostAtResume', kind, code)));
  },
);

test('a description that the store refuses is sent again when the server says, and not only by the timer of offers', async () => {
  await using page = await open();
  for (const kind of ['offer', 'answer'] as const) {
    expect(await page.run('lostAtResume', kind, 'STORE_UNAVAILABLE')).toBeLessThan(4_000);
  }
});

test('an answer that is late or lost is not taken for glare: no side waits for the next try', async () => {
  await using page = await open();
  expect(await page.run('overtakenAnswer')).toBeLessThan(4_000);
  expect(await page.run('lostAnswer')).toBeLessThan(4_000);
});

test('three members act at random in a bad network: once it is good, all are connected', async () => {
  const SEEDS = [1, 2, 3, 4];
  const found = await Promise.all(
    SEEDS.map(async (seed) => {
      await using page = await open();
      await page.run('speedUpTimers', 10);
      const wrong = await page.run('randomActions', seed, 40);
      expect(await page.run('counted')).toEqual(NOTHING);
      return wrong;
    }),
  );
  expect(found.flat()).toEqual([]);
});

test('pairs connect in a network that loses, repeats and reorders signals', async () => {
  await using page = await open();
  await page.run('speedUpTimers', 10);
  for (const seed of [1, 2, 3]) expect(await page.run('lossyNetwork', 12, seed)).toEqual([]);
});

test('signals of an earlier attempt or of a former page change nothing', async () => {
  await using page = await open();
  for (const who of ['early', 'late'] as const) {
    const [made, afterwards] = await page.run('signalsOfFormerPage', who);
    expect(made).toBe(2);
    expect(afterwards).toBe(made);
  }
  await page.run('answerOfNextPage');
  await page.run('speedUpTimers', 10);
  const [made, afterwards] = await page.run('lateFirstAttempt');
  expect(afterwards).toBe(made);
});

test.each([[['early']], [['late']], [['early', 'late']], [['late', 'early']]] as const)(
  '%s: refreshed pages connect again',
  async (who) => {
    await using page = await open();
    const { made, ms, states } = await page.run('refresh', ...who);
    expect(made).toBe(2);
    // By the first `hello`: the second one comes four seconds later.
    expect(ms).toBeLessThan(4_000);
    expect(states.flat()).not.toContain('failed');
  },
);

test.each(['early', 'late'] as const)(
  'the %s member loses the server for a while: its connection stays, and so does the video',
  async (who) => {
    await using page = await open();
    const { made, attempts, states } = await page.run('serverLost', who);
    expect(made).toBe(2);
    expect(attempts).toBe(2);
    expect(states).toEqual([
      ['connecting', 'connected'],
      ['connecting', 'connected'],
    ]);
  },
);

test('a new seat may change the side that offers, an away member is left alone, a member that leaves is gone', async () => {
  await using page = await open();
  // It has the greater `seq` now, so it offers.
  expect(await page.run('rejoin')).toEqual(['early']);
  expect(await page.run('away')).toEqual({ made: 0, madeThen: 2, peers: [0, 0] });
});

test('refused signals are sent again in order; without an answer each attempt takes longer', async () => {
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

// The browser takes long to report a failed connection: so these two run side by side.
test.concurrent('a connection that cannot be repaired is replaced', async ({ expect }) => {
  await using page = await open();
  const { states } = await page.run('beyondRepair');
  expect(states).toEqual([['connecting', 'connected', 'connecting', 'failed', 'connected']]);
});

test.concurrent('a connection is repaired after its relay was out of order', async ({ expect }) => {
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

test('tracks of camera and microphone are replaced without a negotiation', async () => {
  await using page = await open();
  const [before, after] = await page.run('switching');
  expect(after).toBe(before);
});

test('screens beside cameras take one negotiation for each change: shared, ended, shared again, ended by the browser', async () => {
  await using page = await open();
  const { tracks, transceivers, told, negotiations } = await page.run('sharing');
  expect(tracks).toEqual([
    [2, 1, 2, 1],
    [2, null, 2, null],
    [2, null, 2, 2],
    [2, null, 2, 2],
    [2, null, 2, null],
    [2, null, 2, 1],
  ]);
  expect(transceivers).toEqual([4, 4, 5, 5, 5, 5]);
  expect(told).toEqual(['screen', null, 'screen', null, 'screen', null]);
  expect(negotiations).toEqual({ shared: 1, muted: 0, ended: 1, sharedAgain: 1 });
  expect(await page.run('threeMembers')).toEqual([2, 2, 2]);
});

test('data goes both ways up to its limit, and invalid data of a peer does no harm', async () => {
  await using page = await open();
  expect(await page.run('dataBothWays')).toEqual({
    heard: [
      ['early', { deep: [1, null, 'ä€'] }],
      ['late', 'back'],
    ],
    refused: [false, false, true, true],
    afterwards: false,
  });
  expect(await page.run('invalidData')).toEqual([{}, expect.any(String)]);
  expect(await page.run('invalidSignals')).toBeGreaterThan(0);
});

test.each(['early', 'late'] as const)('a peer without this SDK connects as the %s one', async (who) => {
  await using page = await open();
  expect(await page.run('simplePeer', who)).toEqual({ canSend: false, sent: [who], again: true, back: true });
});

test('fresh ICE servers are used at once, and each fault is reported once', async () => {
  await using page = await open();
  const told = await page.run('servers');
  expect(told).toEqual([...Array.from({ length: 6 }, () => 'fresh'), 0]);
  expect(await page.run('faults')).toEqual([
    { url: 'turn:one', code: 401, text: 'no' },
    { url: 'turn:two', code: 486, text: 'no' },
  ]);
});

test('stats() reports rates, loss and route of a connection', async () => {
  await using page = await open();
  const { none, first, second } = await page.run('statistics');
  expect(none).toMatchObject({ route: null, transport: null, roundTripMs: null, bytesReceived: 0 });
  expect(first).toMatchObject({ route: 'direct', transport: 'udp', sentBitsPerSecond: 0, receivedBitsPerSecond: 0 });
  expect(second.roundTripMs).toBeLessThan(1_000);
  expect(second.receivedBitsPerSecond).toBeGreaterThan(0);
  expect(second.receivedBitsPerSecond).toBeLessThan(5_000_000);
  expect(second.bytesReceived).toBeGreaterThan(first.bytesReceived);
  expect(second.lossRate).toBeLessThanOrEqual(1);
});

test('a mesh that is closed at any moment leaves nothing behind', async () => {
  await using page = await open();
  const left = await page.run('closing');
  expect(left).toEqual(left.map(() => NOTHING));
});
