/** References through the API, from a ledger. */
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MEMORY, type Nodes, startNodes } from '../../../support/nodes.ts';
import { temporaryFolder } from '../../../support/process.ts';
import { ADMIN, type ApiClient, createApiClient } from './api-client.ts';

interface Issued {
  readonly references: string[];
}

interface Line {
  readonly msg: string;
}

const lines: Line[] = [];
const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let nodes: Nodes;
let api: ApiClient;

beforeAll(async () => {
  folder = await temporaryFolder();
  const options = { adminToken: ADMIN, dataDir: folder.path, itemTypes: ['invoice=5:INV:6'], apiPerMinute: 100_000 };
  nodes = await startNodes(MEMORY, options, { log });
  api = createApiClient(nodes.url(0));
});
afterAll(async () => {
  await nodes[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const issue = async (type: string, body?: object) =>
  (await api.expectStatus<Issued>(200, 'POST', `/references/${type}`, body)).references;

test('one reference is issued unless a count is given, also of configured types', async () => {
  const year = new Date().getUTCFullYear();
  expect(await issue('order')).toEqual([`ORD${year}00000001`]);
  expect(await issue('order', { count: 3 })).toEqual([2, 3, 4].map((n) => `ORD${year}0000000${n}`));
  expect(await issue('invoice', { count: 2 })).toEqual([`INV${year}000001`, `INV${year}000002`]);
});

test('concurrent requests receive their exact counts, and no reference twice', async () => {
  const counts = [25_000, 10_000, 10_001, 1, 9_999];
  const all = await Promise.all(counts.map((count) => issue('product', { count })));
  expect(all.map(({ length }) => length)).toEqual(counts);
  const references = all.flat();
  expect(new Set(references).size).toBe(references.length);
  for (const reference of references) if (!/^PRO\d{12}$/.test(reference)) expect.unreachable(reference);
});

test('other requests are answered while a million references are issued', async () => {
  const million = issue('user', { count: 1_000_000 });
  let ended = false;
  const end = million.then(() => {
    ended = true;
  });
  let answered = 0;
  while (!ended) {
    await api.expectStatus(200, 'GET', '/pool');
    answered += 1;
  }
  await end;
  expect(answered).toBeGreaterThan(5);
  expect(new Set(await million).size).toBe(1_000_000);
});

test.each([0, 1_000_001, 1.5, '2', null, -1])('the count %s is refused', async (count) => {
  expect(await api.refused('POST', '/references/order', { count })).toBe('422 BAD_REQUEST');
});

test('an unknown type is answered with NOT_FOUND', async () => {
  for (const type of ['nothing', 'constructor', 'ORDER', `x${'x'.repeat(40)}`]) {
    expect(await api.refused('POST', `/references/${type}`)).toBe('404 NOT_FOUND');
  }
});

test('the log contains the name and the trace id of each request', async () => {
  lines.length = 0;
  const headers = { 'x-request-id': 'request-7' };
  await api.expectStatus(200, 'POST', '/references/order', {}, headers);
  await api.expectStatus(200, 'POST', '/references/order', { traceId: 'trace 8', name: 'checkout' }, headers);
  expect(lines.filter(({ msg }) => msg.includes('issued'))).toMatchObject([
    { itemType: 'order', count: 1, traceId: 'request-7', name: 'api:admin' },
    { itemType: 'order', count: 1, traceId: 'trace 8', name: 'checkout' },
  ]);
});
