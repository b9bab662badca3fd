/** Call records as back ends get them: in pages, and as files. From a store that a test can fill and break. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { CSV_HEADER, csvLineOf } from '../../../../src/records/csv.ts';
import {
  type Call,
  type CallPage,
  type CallQuery,
  type CallRecords,
  CursorMalformed,
  type LostCounts,
  RecordsUnavailable,
} from '../../../../src/records/port.ts';
import { EXAMPLES } from '../../../../src/server/http/api/examples.ts';
import { MEMORY, type Nodes, startNodes } from '../../../support/nodes.ts';
import { ADMIN, type ApiClient, type ApiResponse, createApiClient } from './api-client.ts';

const CALLS: readonly Call[] = Array.from({ length: 1_234 }, (_, index) => ({
  ...EXAMPLES.callRecord,
  ref: `ROM2026${String(index).padStart(8, '0')}`,
  name: index % 100 === 0 ? '=cmd|"/c calc"!A1,\r\nand more' : `Call ${index}`,
}));

/** The public name of the participants. */
const asJson = ({ participants, ...call }: Call) => ({ ...call, sessions: participants });

const LOST = { events: 7, signals: 11 };

/** What was asked of the store, and after which of them it breaks. */
const asked: CallQuery[] = [];
let breaksAfter = Number.POSITIVE_INFINITY;
let fault: Error = new RecordsUnavailable('the store is away');
let isEndless = false;
/** A call that comes alone in portions of one session, before all others. */
let large: Call | undefined;

const records: CallRecords = {
  description: 'a list of these tests',
  lost: async () => LOST,
  find: async (ref) => CALLS.find((call) => call.ref === ref),
  async list(query) {
    if (asked.length >= breaksAfter) throw fault;
    asked.push(query);
    if (isEndless) return { calls: CALLS.slice(0, query.limit), cursor: '0' };
    const from = query.cursor === undefined ? 0 : Number(query.cursor);
    if (Number.isNaN(from)) throw new CursorMalformed('no number');
    const end = from + query.limit;
    return { calls: CALLS.slice(from, end), cursor: end < CALLS.length ? String(end) : null };
  },
  // As the records in a database do: as many at a time as are to be held.
  async *export({ cursor: begin, ...filter }) {
    for (const session of large?.participants ?? []) {
      if (large !== undefined)
        yield { calls: [{ ...large, participants: [session] }], more: session !== large.participants.at(-1) };
    }
    let cursor: string | null | undefined = begin;
    while (cursor !== null) {
      const page: CallPage = await records.list({ ...filter, cursor, limit: 200 });
      yield { calls: page.calls, more: false };
      ({ cursor } = page);
    }
  },
  countSignals: () => {},
  close: async () => {},
};

let nodes: Nodes;
let caller: ApiClient;
beforeAll(async () => {
  nodes = await startNodes(MEMORY, { adminToken: ADMIN, apiPerMinute: 100_000 }, { calls: () => records });
  caller = createApiClient(nodes.url(0));
});
afterAll(() => nodes[Symbol.asyncDispose]());
beforeEach(() => {
  asked.length = 0;
  breaksAfter = Number.POSITIVE_INFINITY;
  fault = new RecordsUnavailable('the store is away');
  isEndless = false;
  large = undefined;
});

interface Page {
  readonly calls: readonly Call[];
  readonly cursor: string | null;
  /** What is in no record. */
  readonly lost: LostCounts;
}

test('a page, the next, and the last', async () => {
  const first = await caller.expectStatus<Page>(200, 'GET', '/calls?limit=200');
  expect(first.calls).toEqual(CALLS.slice(0, 200).map(asJson));
  const rest = await caller.expectStatus<Page>(200, 'GET', `/calls?limit=200&cursor=${first.cursor}`);
  expect(rest.calls).toEqual(CALLS.slice(200, 400).map(asJson));
  expect(await caller.expectStatus<Page>(200, 'GET', '/calls?cursor=1200')).toEqual({
    calls: CALLS.slice(1200).map(asJson),
    cursor: null,
    lost: LOST,
  });
  expect(asked[0]).toEqual({ limit: 200 });
});

test('a filter reaches the store as it was meant', async () => {
  const day = Date.parse('2026-01-31T00:00:00Z');
  await caller.expectStatus(200, 'GET', '/calls?from=2026-01-31&to=2026-01-31T12:30:00%2B02:00&code=482913&user=u-1');
  await caller.expectStatus(200, 'GET', `/calls?from=${day}&to=0`);
  expect(asked).toEqual([
    { from: day, to: day + 10.5 * 3_600_000, code: '482913', user: 'u-1', limit: 50 },
    { from: day, to: 0, limit: 50 },
  ]);
});

test.each([
  'from=yesterday',
  'from=2026-13-01',
  'from=2026-01-31T09:00',
  'to=-1',
  'to=1e3',
  'code=12',
  'user=a%20b',
  'limit=201',
  'format=xml',
  'ref=1',
  'cursor=nonsense',
])('of the query %s nobody makes sense', async (query) => {
  expect(await caller.refused('GET', `/calls?${query}`)).toBe('422 BAD_REQUEST');
});

test('one, or none', async () => {
  expect(await caller.expectStatus(200, 'GET', `/calls/${CALLS[7]?.ref}`)).toEqual(
    asJson(CALLS[7] ?? expect.unreachable()),
  );
  expect(await caller.refused('GET', '/calls/ROM202699999999')).toBe('404 NOT_FOUND');
  expect(await caller.refused('GET', '/calls/nonsense')).toBe('404 NOT_FOUND');
});

const csv = CSV_HEADER + CALLS.map(csvLineOf).join('');
const ndjson = CALLS.map((call) => `${JSON.stringify(asJson(call))}\n`).join('');

test.each([
  ['?format=csv', undefined, 'text/csv; charset=utf-8', csv],
  ['', 'text/csv', 'text/csv; charset=utf-8', csv],
  ['', 'application/x-ndjson, */*;q=0.1', 'application/x-ndjson', ndjson],
  ['?format=ndjson', 'text/csv', 'application/x-ndjson', ndjson],
])('all of them as a file: %s %s', async (query, accept, type, text) => {
  const told: ApiResponse = await caller.request(
    'GET',
    `/calls${query}`,
    undefined,
    accept === undefined ? {} : { accept },
  );
  expect(told.status).toBe(200);
  expect(told.headers.get('content-type')).toBe(type);
  expect(told.headers.get('content-disposition')).toMatch(/^attachment; filename="calls\.(csv|ndjson)"$/);
  expect(told.body).toBe(text);
  expect(asked.map(({ limit }) => limit)).toEqual(Array.from({ length: 7 }, () => 200));
});

test.each([
  ['csv', CSV_HEADER, csvLineOf],
  ['ndjson', '', (call: Call) => `${JSON.stringify(asJson(call))}\n`],
])('a call with more sessions than are held at once, as %s', async (format, head, line) => {
  const [participant] = EXAMPLES.callRecord.participants;
  if (participant === undefined) return expect.unreachable();
  large = { ...EXAMPLES.callRecord, participants: [1, 2, 3, 4].map((seq) => ({ ...participant, seq })) };
  const { body } = await caller.request('GET', `/calls?format=${format}&cursor=1232`);
  expect(body).toBe(head + [large, ...CALLS.slice(1232)].map(line).join(''));
});

test('only the headers of a file', async () => {
  isEndless = true;
  const told = await caller.request('HEAD', '/calls?format=csv');
  expect(told).toMatchObject({ status: 200, body: undefined });
  expect(told.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(asked.length).toBeLessThan(3);
});

test('what a browser accepts is a page', async () => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
  expect((await caller.request('GET', '/calls', undefined, { accept })).body).toHaveProperty('cursor');
});

test('a file from a cursor on, with a filter', async () => {
  const { body } = await caller.request('GET', '/calls?format=ndjson&cursor=1230&type=', undefined);
  expect(body).toMatchObject({ status: 422 });
  expect(
    String((await caller.request('GET', '/calls?format=ndjson&cursor=1230&user=u-1')).body)
      .trim()
      .split('\n'),
  ).toHaveLength(4);
  expect(asked).toEqual([{ cursor: '1230', user: 'u-1', limit: 200 }]);
});

/** What sockets and streams hold on the way: some megabytes, and a page has a hundred kilobytes. */
const ON_THE_WAY = 200;

test('no further page is read than the reader has room for, and none when it has gone', async () => {
  isEndless = true;
  const response = await fetch(`${nodes.url(0)}/v1/calls?format=ndjson`, {
    headers: { authorization: `Bearer ${ADMIN}` },
  });
  const reader = response.body?.getReader() ?? expect.unreachable();
  await reader.read();
  // While these are answered, a server that does not wait reads on and on.
  for (let n = 0; n < 300; n += 1) await caller.expectStatus(200, 'GET', '/pool');
  expect(asked.length).toBeLessThan(ON_THE_WAY);
  const before = asked.length;
  for (let bytes = 0; bytes < 40_000_000; ) bytes += (await reader.read()).value?.length ?? expect.unreachable();
  expect(asked.length).toBeGreaterThan(before);
  await reader.cancel();
  let seen: number;
  do {
    seen = asked.length;
    for (let n = 0; n < 20; n += 1) await caller.expectStatus(200, 'GET', '/pool');
  } while (asked.length > seen);
});

test('a store that is away is said to be; one that breaks in between cuts the file off', async () => {
  breaksAfter = 0;
  for (const query of ['', '?format=csv']) {
    const { status, headers, body } = await caller.request('GET', `/calls${query}`);
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('1');
    expect(body).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
  }
  breaksAfter = 2;
  await expect(caller.request('GET', '/calls?format=csv')).rejects.toThrow();
  expect(await caller.expectStatus(200, 'GET', '/pool')).toHaveProperty('free');
});

test('what is wrong with the server is not said to be an outage', async () => {
  breaksAfter = 0;
  fault = new TypeError('the database holds no such text');
  const { status, body } = await caller.request('GET', '/calls');
  expect(status).toBe(500);
  expect(body).toMatchObject({ code: 'INTERNAL', retryable: false, title: expect.stringMatching(/logged as \S+/) });
});
