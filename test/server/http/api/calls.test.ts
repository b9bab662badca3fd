/** Call records through the API, in pages and as files, from a store that a test can fill and break. */
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

/** The queries that the store received; `breaksAfter` is how many of them succeed. */
const queries: CallQuery[] = [];
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
    if (queries.length >= breaksAfter) throw fault;
    queries.push(query);
    if (isEndless) return { calls: CALLS.slice(0, query.limit), cursor: '0' };
    const from = query.cursor === undefined ? 0 : Number(query.cursor);
    if (Number.isNaN(from)) throw new CursorMalformed('no number');
    const end = from + query.limit;
    return { calls: CALLS.slice(from, end), cursor: end < CALLS.length ? String(end) : null };
  },
  // Like the records in a database: portions of a limited size.
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
  health: () => ({ state: 'up', since: 0 }),
  close: async () => {},
};

let nodes: Nodes;
let api: ApiClient;
beforeAll(async () => {
  nodes = await startNodes(MEMORY, { adminToken: ADMIN, apiPerMinute: 100_000 }, { calls: () => records });
  api = createApiClient(nodes.url(0));
});
afterAll(() => nodes[Symbol.asyncDispose]());
beforeEach(() => {
  queries.length = 0;
  breaksAfter = Number.POSITIVE_INFINITY;
  fault = new RecordsUnavailable('the store is away');
  isEndless = false;
  large = undefined;
});

interface Page {
  readonly calls: readonly Call[];
  readonly cursor: string | null;
  /** Events and signals that no record contains. */
  readonly lost: LostCounts;
}

test('a list has a first page, a next page and a last page', async () => {
  const first = await api.expectStatus<Page>(200, 'GET', '/calls?limit=200');
  expect(first.calls).toEqual(CALLS.slice(0, 200).map(asJson));
  const rest = await api.expectStatus<Page>(200, 'GET', `/calls?limit=200&cursor=${first.cursor}`);
  expect(rest.calls).toEqual(CALLS.slice(200, 400).map(asJson));
  expect(await api.expectStatus<Page>(200, 'GET', '/calls?cursor=1200')).toEqual({
    calls: CALLS.slice(1200).map(asJson),
    cursor: null,
    lost: LOST,
  });
  expect(queries[0]).toEqual({ limit: 200 });
});

test('a filter reaches the store with parsed times', async () => {
  const day = Date.parse('2026-01-31T00:00:00Z');
  await api.expectStatus(200, 'GET', '/calls?from=2026-01-31&to=2026-01-31T12:30:00%2B02:00&code=482913&user=u-1');
  await api.expectStatus(200, 'GET', `/calls?from=${day}&to=0`);
  expect(queries).toEqual([
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
])('the query %s is refused', async (query) => {
  expect(await api.refused('GET', `/calls?${query}`)).toBe('422 BAD_REQUEST');
});

test('one record is returned by its ref, and an unknown ref is answered with NOT_FOUND', async () => {
  expect(await api.expectStatus(200, 'GET', `/calls/${CALLS[7]?.ref}`)).toEqual(
    asJson(CALLS[7] ?? expect.unreachable()),
  );
  expect(await api.refused('GET', '/calls/ROM202699999999')).toBe('404 NOT_FOUND');
  expect(await api.refused('GET', '/calls/nonsense')).toBe('404 NOT_FOUND');
});

const csv = CSV_HEADER + CALLS.map(csvLineOf).join('');
const ndjson = CALLS.map((call) => `${JSON.stringify(asJson(call))}\n`).join('');

test.each([
  ['?format=csv', undefined, 'text/csv; charset=utf-8', csv],
  ['', 'text/csv', 'text/csv; charset=utf-8', csv],
  ['', 'application/x-ndjson, */*;q=0.1', 'application/x-ndjson', ndjson],
  ['?format=ndjson', 'text/csv', 'application/x-ndjson', ndjson],
])('a file contains all records: %s %s', async (query, accept, type, text) => {
  const response: ApiResponse = await api.request(
    'GET',
    `/calls${query}`,
    undefined,
    accept === undefined ? {} : { accept },
  );
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe(type);
  expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="calls\.(csv|ndjson)"$/);
  expect(response.body).toBe(text);
  expect(queries.map(({ limit }) => limit)).toEqual(Array.from({ length: 7 }, () => 200));
});

test.each([
  ['csv', CSV_HEADER, csvLineOf],
  ['ndjson', '', (call: Call) => `${JSON.stringify(asJson(call))}\n`],
])('a call with more sessions than fit in one portion is one line of %s', async (format, head, line) => {
  const [participant] = EXAMPLES.callRecord.participants;
  if (participant === undefined) return expect.unreachable();
  large = { ...EXAMPLES.callRecord, participants: [1, 2, 3, 4].map((seq) => ({ ...participant, seq })) };
  const { body } = await api.request('GET', `/calls?format=${format}&cursor=1232`);
  expect(body).toBe(head + [large, ...CALLS.slice(1232)].map(line).join(''));
});

test('HEAD returns the headers of a file without reading all records', async () => {
  isEndless = true;
  const response = await api.request('HEAD', '/calls?format=csv');
  expect(response).toMatchObject({ status: 200, body: undefined });
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(queries.length).toBeLessThan(3);
});

test('the Accept header of a browser returns a page of JSON', async () => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
  expect((await api.request('GET', '/calls', undefined, { accept })).body).toHaveProperty('cursor');
});

test('a file can begin at a cursor and have a filter', async () => {
  const { body } = await api.request('GET', '/calls?format=ndjson&cursor=1230&type=', undefined);
  expect(body).toMatchObject({ status: 422 });
  expect(
    String((await api.request('GET', '/calls?format=ndjson&cursor=1230&user=u-1')).body)
      .trim()
      .split('\n'),
  ).toHaveLength(4);
  expect(queries).toEqual([{ cursor: '1230', user: 'u-1', limit: 200 }]);
});

/** Pages in the buffers of sockets and streams: some megabytes, and a page has a hundred kilobytes. */
const MAX_BUFFERED_PAGES = 200;

test('pages are read only while the reader takes them, and no more after it has disconnected', async () => {
  isEndless = true;
  const response = await fetch(`${nodes.url(0)}/v1/calls?format=ndjson`, {
    headers: { authorization: `Bearer ${ADMIN}` },
  });
  const reader = response.body?.getReader() ?? expect.unreachable();
  await reader.read();
  // While these are answered, a server without backpressure would go on reading.
  for (let n = 0; n < 300; n += 1) await api.expectStatus(200, 'GET', '/pool');
  expect(queries.length).toBeLessThan(MAX_BUFFERED_PAGES);
  const before = queries.length;
  for (let bytes = 0; bytes < 40_000_000; ) bytes += (await reader.read()).value?.length ?? expect.unreachable();
  expect(queries.length).toBeGreaterThan(before);
  await reader.cancel();
  let seen: number;
  do {
    seen = queries.length;
    for (let n = 0; n < 20; n += 1) await api.expectStatus(200, 'GET', '/pool');
  } while (queries.length > seen);
});

test('an unavailable store is refused as retryable; a store that fails in the middle cuts the file off', async () => {
  breaksAfter = 0;
  for (const query of ['', '?format=csv']) {
    const { status, headers, body } = await api.request('GET', `/calls${query}`);
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('1');
    expect(body).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
  }
  breaksAfter = 2;
  await expect(api.request('GET', '/calls?format=csv')).rejects.toThrow();
  expect(await api.expectStatus(200, 'GET', '/pool')).toHaveProperty('free');
});

test('a fault of the server is answered as INTERNAL, not as an outage of the store', async () => {
  breaksAfter = 0;
  fault = new TypeError('the database holds no such text');
  const { status, body } = await api.request('GET', '/calls');
  expect(status).toBe(500);
  expect(body).toMatchObject({ code: 'INTERNAL', retryable: false, title: expect.stringMatching(/logged as \S+/) });
});
