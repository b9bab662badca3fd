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

  test('without any, nobody is let in', () => {
    const none = createTokenCheck(readAdminTokens(undefined, []));
    for (const authorization of [undefined, '', 'Bearer ', 'Bearer undefined'])
      expect(none(authorization)).toBeUndefined();
  });

  test.each([
    ['no scope', [`mon:${READER}`]],
    ['another scope', [`mon=admin:${READER}`]],
    ['no name', [`=read:${READER}`]],
    ['too short', ['mon=read:fifteen-letters']],
    ['not printable', [`mon=read:${READER}é`]],
    ['a space', [`mon=read:${READER} ${READER}`]],
    ['a name twice', [`mon=read:${READER}`, `mon=write:${WRITER}`]],
    ['a token twice', [`mon=read:${READER}`, `shop=write:${READER}`]],
    ['the name of the one that has its own option', [`admin=read:${READER}`]],
    ['the token of that one', [`mon=read:${ADMIN}`]],
  ])('%s stops the start, and no token is told', (_, adminTokens) => {
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

/** Collects what is logged. */
function listen() {
  const lines: Line[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });
  return { log, lines, changes: () => lines.filter(({ msg }) => msg === 'the API was asked to change something') };
}

describe('access', () => {
  const { log, lines, changes } = listen();
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
  const caller = (token?: string) => createApiClient(nodes.url(0), token);
  const nobody = () => createApiClient(nodes.url(0), '');

  test('nobody without a token, and it is said how to bring one', async () => {
    const told = await fetch(`${nodes.url(0)}/v1/rooms`);
    expect(told.status).toBe(401);
    expect(told.headers.get('www-authenticate')).toBe('Bearer');
    expect(await told.json()).toMatchObject({ code: 'UNAUTHENTICATED', status: 401, retryable: false });
    // Whether there is such a path is nobody else's business, and no body is read of theirs.
    for (const path of ['/nothing', '/rooms/123456'])
      expect(await nobody().refused('GET', path)).toBe('401 UNAUTHENTICATED');
    expect(await nobody().refused('POST', '/rooms', '{ no JSON')).toBe('401 UNAUTHENTICATED');
  });

  test('where there is none, it is not the token that is wrong', async () => {
    await using bare = await startNodes({ kind: 'memory', count: 1 });
    const { status, body } = await createApiClient(bare.url(0), 'any-token-that-is-long').request('GET', '/pool');
    expect([status, body]).toEqual([401, expect.objectContaining({ code: 'UNAUTHENTICATED' })]);
    expect(body).toMatchObject({ title: expect.stringContaining('no token configured, so') });
  });

  test('who may read may not write, and is told what is missing', async () => {
    const reader = caller(READER);
    const { code } = await createRoom(caller());
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
    expect(await caller(WRITER).expectStatus(200, 'GET', `/rooms/${code}`)).toMatchObject({ locked: false });
  });

  test('what was changed is noted with the name of the token, and nothing that is secret', async () => {
    const { code, ref } = await createRoom(caller(WRITER));
    await caller(WRITER).expectStatus(200, 'PATCH', `/rooms/${code}`, { name: 'seen' }, { 'x-request-id': 'trace-7' });
    await caller(WRITER).expectStatus(200, 'GET', `/rooms/${code}`);
    await expect.poll(changes).toHaveLength(2);
    expect(changes()).toMatchObject([
      { token: 'shop', route: 'POST /v1/rooms', status: 201, ref, requestId: expect.stringMatching(/^.{8,}$/) },
      { token: 'shop', route: 'PATCH /v1/rooms/:code', status: 200, ref, requestId: 'trace-7' },
    ]);
    for (const secret of [WRITER, code]) expect(JSON.stringify(changes())).not.toContain(secret);
  });

  test('a request has an id: its own, when that is one', async () => {
    const told = async (id: string) =>
      (await caller().request('GET', '/pool', undefined, { 'x-request-id': id })).headers.get('x-request-id');
    expect(await told('abc-1.2:3')).toBe('abc-1.2:3');
    expect(await told('a b')).toMatch(/^[A-Za-z0-9_-]{8,}$/);
    expect(await told('x'.repeat(65))).not.toContain('xxx');
  });

  test('each token has its own budget, and is told when it may ask again', async () => {
    const few = caller(`${READER}-few`);
    const told = [];
    for (let n = 0; n < 51; n += 1) told.push(await few.request('GET', '/webhooks'));
    expect(told.slice(0, 50).every(({ status }) => status === 501)).toBe(true);
    const last = told.at(-1);
    expect(last).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED', retryable: true } });
    const seconds = Number(last?.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(last?.body).toMatchObject({ retryAfterMs: expect.any(Number) });
    await caller(READER).expectStatus(200, 'GET', '/pool');
  });

  test('who guesses has to wait, twice as long after each, and keeps nobody out who knows a token', async () => {
    const guess = (n: number) => createApiClient(nodes.url(0), `guess-${n}`).request('GET', '/pool');
    // Those that bring none have not guessed.
    for (let n = 0; n < 30; n += 1) expect((await fetch(`${nodes.url(0)}/v1/pool`)).status).toBe(401);
    const told = [];
    for (let n = 0; n < 22; n += 1) told.push(await guess(n));
    const limited = told.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThan(0);
    expect(limited[0]?.headers.get('retry-after')).toBe('1');
    await caller().expectStatus(200, 'GET', '/pool');
    await caller(READER).expectStatus(200, 'GET', '/pool');
    // Nor is a guess forgiven because somebody else was right.
    expect((await guess(98)).status).toBe(429);
    expect((await fetch(`${nodes.url(0)}/v1/pool`)).status).toBe(401);
    clock.advance(1000);
    expect((await guess(99)).status).toBe(401);
    expect((await guess(99)).headers.get('retry-after')).toBe('2');
  });
});

test('what is noted has the name of what it is', async () => {
  const { log, changes } = listen();
  await using folder = await temporaryFolder();
  const webhooks = {
    webhookUrls: ['http://127.0.0.1:1/'],
    webhookSecrets: ['a-secret-of-these-tests'],
    webhookAllowPrivate: true,
  };
  // No clock turns: nothing is sent there.
  const dependencies = { clock: manualClock(), log };
  await using nodes = await startNodes(MEMORY, { adminToken: ADMIN, dataDir: folder.path, ...webhooks }, dependencies);
  const caller = createApiClient(nodes.url(0));
  const { code, ref } = await createRoom(caller);
  await caller.expectStatus(204, 'DELETE', `/rooms/${code}`);
  await caller.expectStatus(200, 'POST', '/references/order', {});
  const { endpoints } = await caller.expectStatus<{ endpoints: { id: string }[] }>(200, 'GET', '/webhooks');
  const endpoint = endpoints[0]?.id;
  await caller.expectStatus(202, 'POST', `/webhooks/${endpoint}/replay`, {});
  await expect.poll(changes).toHaveLength(4);
  const about = changes().map(({ ref, itemType, endpoint }) => ({ ref, itemType, endpoint }));
  expect(about).toEqual([{ ref }, { ref }, { itemType: 'order' }, { endpoint }]);
});

test('a node that goes away changes nothing any more, and reads on', async () => {
  // The drain waits until the seat of its last client has been written, which takes a while now.
  const nodes = await startNodes(ONE_NODE, { adminToken: ADMIN });
  try {
    const [server] = nodes.servers;
    const caller = createApiClient(nodes.url(0));
    const { code } = await createRoom(caller);
    await using ann = await connectClient(nodes.url(0));
    await ann.must('room:join', { code });
    const drained = ann.next('server:drain');
    nodes.redis?.freeze();
    const closed = server?.close();
    await drained;
    expect(await caller.refused('POST', '/rooms')).toBe('503 DRAINING');
    const { headers } = await caller.request('DELETE', `/rooms/${code}`);
    expect(headers.get('retry-after')).toBe('1');
    nodes.redis?.thaw();
    await closed;
  } finally {
    await nodes[Symbol.asyncDispose]();
  }
});
