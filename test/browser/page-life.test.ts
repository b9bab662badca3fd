/** A page that is refreshed, restored from the cache or offline for a while keeps its user and seat, on one more connection. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, type Person, type TestBrowser } from '../support/browser.ts';
import { openVisitHarness, type Visit, type VisitHarness } from './visit-harness.ts';

const PATIENCE = { timeout: 30_000 };

let visits: VisitHarness;
let browser: TestBrowser;

beforeAll(async () => {
  [visits, browser] = await Promise.all([openVisitHarness(), launchBrowser({ keepsPages: true })]);
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await visits?.[Symbol.asyncDispose]();
});

test('a refreshed page is away and back, on one more connection', async () => {
  const { visit } = await visitor();
  await using _ = visit;
  await visit.page.reload();
  await visit.back();
  expect(visit.memberEvents).toEqual(['away', 'back']);
  expect(visit.proxy.accepted).toBe(2);
});

test('a page restored from the back-forward cache takes its seat again, once', async () => {
  const { visit } = await visitor();
  await using _ = visit;
  await visit.page.goto(`${visits.origin}/elsewhere`);
  await expect.poll(() => visit.memberEvents, PATIENCE).toEqual(['away']);
  // The answer never comes: the page that asked is gone.
  await visit.page.evaluate('history.back()').catch(() => {});
  await visit.back();
  expect(await visit.page.evaluate('happened')).toEqual(['shown', 'freeze', 'resume', 'shown again']);
  expect(visit.memberEvents).toEqual(['away', 'back']);
  expect(visit.proxy.accepted).toBe(2);
});

test('a page without network says so, and is back as soon as there is one', async () => {
  const { visit, person } = await visitor();
  await using _ = visit;
  await person.context.setOffline(true);
  await expect.poll(() => visit.states(), PATIENCE).toContain('offline');
  await person.context.setOffline(false);
  await visit.back();
  expect(visit.memberEvents).toEqual(['away', 'back']);
  expect((await visit.states()).at(-1)).toBe('online');
});

test('a closed page leaves for the other members at once', async () => {
  const { visit } = await visitor();
  await using _ = visit;
  await visit.page.close({ runBeforeUnload: true });
  await expect.poll(() => visit.memberEvents, { timeout: 3000 }).toEqual(['away']);
});

async function visitor(): Promise<{ visit: Visit; person: Person }> {
  let person: Person | undefined;
  const visit = await visits.visit(async (url) => {
    person = await browser.person(url);
    return person.page;
  });
  if (person === undefined) throw new Error('nobody came');
  return { visit, person };
}
