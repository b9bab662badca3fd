/**
 * Frozen tabs and sleeping laptops: no timer runs, nothing is read from the network. Afterwards the page has made one
 * more connection, and is the same user on one seat.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BackgroundTabs, openBackgroundTabs } from '../support/background-tabs.ts';
import { openVisitHarness, type Visit, type VisitHarness } from './visit-harness.ts';

const SECOND = 1000;
/** Shorter than the defaults: the server finds a frozen page after 6 s at most, and gives its seat up 15 s later. */
const TIMES = { pingIntervalMs: 4 * SECOND, pingTimeoutMs: 2 * SECOND, graceMs: 15 * SECOND, tickMs: SECOND };

let visits: VisitHarness;
let tabs: BackgroundTabs;

beforeAll(async () => {
  [visits, tabs] = await Promise.all([openVisitHarness(TIMES), openBackgroundTabs()]);
});

afterAll(async () => {
  await tabs?.[Symbol.asyncDispose]();
  await visits?.[Symbol.asyncDispose]();
});

test('a page that was frozen for a while, nearly for the grace, beyond it, or asleep is in its room again', async () => {
  // Side by side: it takes the time of the longest.
  await Promise.all([
    frozen(10 * SECOND, ['away', 'back']),
    frozen(14 * SECOND, ['away', 'back']),
    frozen(28 * SECOND, ['away', 'left', 'joined']),
    asleep(10 * SECOND),
  ]);
});

async function frozen(ms: number, news: readonly string[]): Promise<void> {
  await using visit = await visits.visit((url) => tabs.open(url));
  await standStill(visit, ms);
  await comesBack(visit, news);
}

/** The network stands still too, and the connection is dead afterwards. */
async function asleep(ms: number): Promise<void> {
  await using visit = await visits.visit((url) => tabs.open(url));
  visit.proxy.freeze();
  await standStill(visit, ms, () => {
    visit.proxy.cut();
    visit.proxy.thaw();
    visit.proxy.heal();
  });
  await comesBack(visit, ['away', 'back']);
}

async function standStill({ page }: Visit, ms: number, beforeItWakes?: () => void): Promise<void> {
  await tabs.freeze(page);
  await new Promise((resolve) => setTimeout(resolve, ms));
  beforeItWakes?.();
  await tabs.thaw(page);
}

async function comesBack(visit: Visit, news: readonly string[]): Promise<void> {
  await visit.back();
  expect(await visit.page.evaluate('happened')).toEqual(['shown', 'freeze', 'resume']);
  expect(visit.memberEvents).toEqual(news);
  expect(visit.proxy.accepted).toBe(2);
}
