/** Access to the API: tokens, scopes, rate limits, guesses, and the audit log. */
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTokenCheck, readAdminTokens } from '../../../../src/server/auth/admin-tokens.ts';
import { OptionError, readOptions } from '../../../../src/server/options/options.ts';
import { connectClient } from '../../../support/client.ts';
import { manualClock } from '../../../support/manual-clock.ts';
import { MEMORY, type Nodes, ONE_NODE, startNodes } from '../../../support/nodes.ts';
import { temporaryFolder } from '../../../support/process.ts';
import { ADMIN, createApiClient, createRoom } from './api-client.ts';

const READER = 'reader-of-these-tests';
const WRITER = 'writer-of-these-tests+/=';

describe('tokens', () => {
  const known = readAdminTokens(ADMIN, [`mon=read:${READER}`, `shop=write:${WRITER}`]);
  const find = createTokenCheck(known);

  test.each([
    [`Bearer ${ADMIN}`, { name: 'admin', scope: 'write' }],
    [`Bearer ${READER}`, { name: 'mon', scope: 'read' }],
    [`bearer  ${WRITER}`, { name: 'shop', scope: 'write' }],
    [`Bearer ${READER}x`, undefined],
    [`Bearer ${READER} `, undefined],
    [`Basic ${READER}`, undefined],
    [READER, undefined],
    ['Bearer', undefined],
    ['Bearer ', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s', (authorization, token) => expect(find(authorization)).toEqual(token));

  test('a server without tokens refuses every request', () => {
    const none = createTokenCheck(readAdminTokens(undefined, []));
    for (const authorization of [undefined, '', 'Bearer ', 'Bearer undefined'])
      expect(none(authorization)).toBeUndefined();
  });

  test.each([
    ['a token without a scope', [`mon:${READER}`]],
    ['an unknown scope', [`mon=admin:${READER}`]],
    ['a token without a name', [`=read:${READER}`]],
    ['a token that is too short', ['mon=read:fifteen-letters']],
    ['a token that is not printable', [`mon=read:${READER}é`]],
    ['a token with a space', [`mon=read:${READER} ${READER}`]],
    ['a duplicate name', [`mon=read:${READER}`, `mon=write:${WRITER}`]],
    ['a duplicate token', [`mon=read:${READER}`, `shop=write:${READER}`]],
    ['the name of the token from adminToken', [`admin=read:${READER}`]],
    ['the same token as in adminToken', [`mon=read:${ADMIN}`]],
  ])('%s stops the start, and the error contains no token', (_, adminTokens) => {
    const start = () => readOptions({ adminToken: ADMIN, adminTokens });
    expect(start).toThrow(OptionError);
    expect(start).toThrow(/^adminTokens: /);
    expect(start).not.toThrow(new RegExp(`${READER}|${WRITER}|${ADMIN}|fifteen-letters`));
  });
});

interface Line {
  readonly msg: string;
  readonly token?: string;
  readonly [field: string]: unknown;
}

/** A log that keeps its lines. */
function recordingLog() {
  const lines: Line[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });
  return { log, lines, changes: () => lines.filter(({ msg }) => msg === 'the API was asked to change something') };
}

describe('access', () => {
  const { log, lines, changes } = recordingLog();
  const clock = manualClock();
  let nodes: Nodes;
  beforeAll(async () => {
    nodes = await startNodes(
      MEMORY,
      {
        adminToken: ADMIN,
        adminTokens: [`mon=read:${READER}`, `shop=write:${WRITER}`, `few=read:${READER}-few`],
        apiPerMinute: 50,
      },
      { clock, log },
    );
  });
  afterAll(() => nodes[Symbol.asyncDispose]());
  beforeEach(() => {
    lines.length = 0;
  });
  const apiWith = (token?: string) => createApiClient(nodes.url(0), token);
  const withoutToken = () => createApiClient(nodes.url(0), '');

  test('a request without a token is refused with a header that names the scheme', async () => {
    const response = await fetch(`${nodes.url(0)}/v1/rooms`);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await response.json()).toMatchObject({ code: 'UNAUTHENTICATED', status: 401, retryable: false });
    // Authentication comes first: the answer does not show whether the path exists, and the body is not parsed.
    for (const path of ['/nothing', '/rooms/123456'])
      expect(await withoutToken().refused('GET', path)).toBe('401 UNAUTHENTICATED');
    expect(await withoutToken().refused('POST', '/rooms', '{ no JSON')).toBe('401 UNAUTHENTICATED');
  });

  test('a server without tokens says so instead of calling the token wrong', async () => {
    await using bare = await startNodes({ kind: 'memory', count: 1 });
    const { status, body } = await createApiClient(bare.url(0), 'any-token-that-is-long').request('GET', '/pool');
    expect([status, body]).toEqual([401, expect.objectContaining({ code: 'UNAUTHENTICATED' })]);
    expect(body).toMatchObject({ title: expect.stringContaining('no token configured, so') });
  });

  test('a token with the scope read cannot write, and the problem names the missing scope', async () => {
    const reader = apiWith(READER);
    const { code } = await createRoom(apiWith());
    await reader.expectStatus(200, 'GET', `/rooms/${code}`);
    const writes = [
      ['POST', '/rooms'],
      ['PATCH', `/rooms/${code}`],
      ['DELETE', `/rooms/${code}`],
      ['DELETE', `/rooms/${code}/members/somebody`],
      ['POST', `/rooms/${code}/messages`],
      ['POST', '/references/order'],
      ['POST', '/webhooks/any/replay'],
    ] as const;
    for (const [method, path] of writes) {
      const { status, body } = await reader.request(method, path, {});
      expect(status).toBe(403);
      expect(body).toMatchObject({ code: 'FORBIDDEN', title: 'This needs a token with the scope write.' });
    }
    expect(await apiWith(WRITER).expectStatus(200, 'GET', `/rooms/${code}`)).toMatchObject({ locked: false });
  });

  test('a change is logged with the name of the token and without secrets', async () => {
    const { code, ref } = await createRoom(apiWith(WRITER));
    await apiWith(WRITER).expectStatus(200, 'PATCH', `/rooms/${code}`, { name: 'seen' }, { 'x-request-id': 'trace-7' });
    await apiWith(WRITER).expectStatus(200, 'GET', `/rooms/${code}`);
    await expect.poll(changes).toHaveLength(2);
    expect(changes()).toMatchObject([
      { token: 'shop', route: 'POST /v1/rooms', status: 201, ref, requestId: expect.stringMatching(/^.{8,}$/) },
      { token: 'shop', route: 'PATCH /v1/rooms/:code', status: 200, ref, requestId: 'trace-7' },
    ]);
    for (const secret of [WRITER, code]) expect(JSON.stringify(changes())).not.toContain(secret);
  });

  test('a request keeps its valid x-request-id; an invalid one is replaced', async () => {
    const idFor = async (id: string) =>
      (await apiWith().request('GET', '/pool', undefined, { 'x-request-id': id })).headers.get('x-request-id');
    expect(await idFor('abc-1.2:3')).toBe('abc-1.2:3');
    expect(await idFor('a b')).toMatch(/^[A-Za-z0-9_-]{8,}$/);
    expect(await idFor('x'.repeat(65))).not.toContain('xxx');
  });

  test('each token has its own budget, and a refusal says when to try again', async () => {
    const few = apiWith(`${READER}-few`);
    const responses = [];
    for (let n = 0; n < 51; n += 1) responses.push(await few.request('GET', '/webhooks'));
    expect(responses.slice(0, 50).every(({ status }) => status === 501)).toBe(true);
    const last = responses.at(-1);
    expect(last).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED', retryable: true } });
    const seconds = Number(last?.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(last?.body).toMatchObject({ retryAfterMs: expect.any(Number) });
    await apiWith(READER).expectStatus(200, 'GET', '/pool');
  });

  test('wrong tokens are throttled, twice as long after each, and valid tokens still work', async () => {
    const guess = (n: number) => createApiClient(nodes.url(0), `guess-${n}`).request('GET', '/pool');
    // A request without a token is not a guess.
    for (let n = 0; n < 30; n += 1) expect((await fetch(`${nodes.url(0)}/v1/pool`)).status).toBe(401);
    const responses = [];
    for (let n = 0; n < 22; n += 1) responses.push(await guess(n));
    const limited = responses.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThan(0);
    expect(limited[0]?.headers.get('retry-after')).toBe('1');
    await apiWith().expectStatus(200, 'GET', '/pool');
    await apiWith(READER).expectStatus(200, 'GET', '/pool');
    // The probe shares the limit, so that tokens cannot be tried there; it is answered in any case.
    const probe = await fetch(`${nodes.url(0)}/readyz`, { headers: { authorization: `Bearer ${READER}` } });
    expect(probe.status).toBe(200);
    expect(await probe.json()).not.toHaveProperty('nodeId');
    // A request with a valid token does not reset the limit for guesses.
    expect((await guess(98)).status).toBe(429);
    expect((await fetch(`${nodes.url(0)}/v1/pool`)).status).toBe(401);
    clock.advance(1000);
    expect((await guess(99)).status).toBe(401);
    expect((await guess(99)).headers.get('retry-after')).toBe('2');
  });
});

test('a logged change names its object: a room, an item type or an endpoint', async () => {
  const { log, changes } = recordingLog();
  await using folder = await temporaryFolder();
  const webhooks = {
    webhookUrls: ['http://127.0.0.1:1/'],
    webhookSecrets: ['a-secret-of-these-tests'],
    webhookAllowPrivate: true,
  };
  // The clock stands still, so no webhook is sent.
  const dependencies = { clock: manualClock(), log };
  await using nodes = await startNodes(MEMORY, { adminToken: ADMIN, dataDir: folder.path, ...webhooks }, dependencies);
  const api = createApiClient(nodes.url(0));
  const { code, ref } = await createRoom(api);
  await api.expectStatus(204, 'DELETE', `/rooms/${code}`);
  await api.expectStatus(200, 'POST', '/references/order', {});
  const { endpoints } = await api.expectStatus<{ endpoints: { id: string }[] }>(200, 'GET', '/webhooks');
  const endpoint = endpoints[0]?.id;
  await api.expectStatus(202, 'POST', `/webhooks/${endpoint}/replay`, {});
  await expect.poll(changes).toHaveLength(4);
  const about = changes().map(({ ref, itemType, endpoint }) => ({ ref, itemType, endpoint }));
  expect(about).toEqual([{ ref }, { ref }, { itemType: 'order' }, { endpoint }]);
});

test('a draining node refuses changes through the API', async () => {
  // The drain waits until the seat of its last client is stored, which a frozen Redis delays.
  const nodes = await startNodes(ONE_NODE, { adminToken: ADMIN });
  try {
    const [server] = nodes.servers;
    const api = createApiClient(nodes.url(0));
    const { code } = await createRoom(api);
    await using ann = await connectClient(nodes.url(0));
    await ann.must('room:join', { code });
    const drained = ann.next('server:drain');
    nodes.redis?.freeze();
    const closed = server?.close();
    await drained;
    expect(await api.refused('POST', '/rooms')).toBe('503 DRAINING');
    const { headers } = await api.request('DELETE', `/rooms/${code}`);
    expect(headers.get('retry-after')).toBe('1');
    nodes.redis?.thaw();
    await closed;
  } finally {
    await nodes[Symbol.asyncDispose]();
  }
});
