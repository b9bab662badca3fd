/**
 * A browser freezes a tab that nobody looks at, and a laptop sleeps: no timer runs, nothing is read from the network.
 * Afterwards there is one more connection, the same user, and one seat. The times are those of a server nobody configured.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTabs, type Tabs } from '../support/tabs.ts';
import { openPlace, type Place, type Visit } from './visit.ts';

const SECOND = 1000;

let place: Place;
let tabs: Tabs;

beforeAll(async () => {
  [place, tabs] = await Promise.all([openPlace(), openTabs()]);
});

afterAll(async () => {
  await tabs?.[Symbol.asyncDispose]();
  await place?.[Symbol.asyncDispose]();
});

test('for 20 s, for 40 s, beyond the grace, and asleep', async () => {
  // Side by side: it takes the time of the longest.
  await Promise.all([
    frozen(20 * SECOND, ['away', 'back']),
    frozen(40 * SECOND, ['away', 'back']),
    frozen(65 * SECOND, ['away', 'left', 'joined']),
    asleep(25 * SECOND),
  ]);
});

async function frozen(ms: number, news: readonly string[]): Promise<void> {
  await using visit = await place.visit((url) => tabs.open(url));
  await standStill(visit, ms);
  await comesBack(visit, news);
}

/** The network stands still too, and the connection is dead afterwards. */
async function asleep(ms: number): Promise<void> {
  await using visit = await place.visit((url) => tabs.open(url));
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
  expect(visit.news).toEqual(news);
  expect(visit.proxy.accepted).toBe(2);
}
