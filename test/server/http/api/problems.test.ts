/** Malformed requests are refused with a reason that repeats nothing of what was sent. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ReferenceUnavailable } from '../../../../src/reference/port.ts';
import { connectClient } from '../../../support/client.ts';
import { MEMORY, type Nodes, ONE_NODE, startNodes } from '../../../support/nodes.ts';
import { ADMIN, type ApiClient, createApiClient, createRoom } from './api-client.ts';

let nodes: Nodes;
let api: ApiClient;
let code: string;

beforeAll(async () => {
  nodes = await startNodes(ONE_NODE, { adminToken: ADMIN, apiPerMinute: 100_000 });
  api = createApiClient(nodes.url(0));
  ({ code } = await createRoom(api));
});
afterAll(() => nodes[Symbol.asyncDispose]());

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('a body', () => {
  test.each([
    ['invalid JSON', '{"name":', '400 BAD_REQUEST'],
    ['empty', '', '201'],
    ['an array', '[]', '422 BAD_REQUEST'],
    ['null', 'null', '201'],
    ['the key __proto__', '{"__proto__":{"locked":true}}', '400 BAD_REQUEST'],
    ['the key constructor', '{"metadata":{"constructor":{"prototype":{"x":1}}}}', '400 BAD_REQUEST'],
    ['JSON of the maximum depth', `{"metadata":${nested(12)}}`, '201'],
    ['one level too deep', `{"metadata":${nested(13)}}`, '400 BAD_REQUEST'],
    ['thousands of levels too deep', `{"metadata":${nested(10_000)}}`, '400 BAD_REQUEST'],
    ['an unknown field', '{"nmae":"Ada"}', '422 BAD_REQUEST'],
    ['a profile, which only members have', '{"profile":{}}', '422 BAD_REQUEST'],
    ['a name of the wrong type', '{"name":7}', '422 BAD_REQUEST'],
    ['too many seats', '{"maxUsers":101}', '422 BAD_REQUEST'],
    ['a fraction of a seat', '{"maxUsers":2.5}', '422 BAD_REQUEST'],
    ['an unknown access', '{"access":"secret"}', '422 BAD_REQUEST'],
    ['too much metadata', `{"metadata":"${'x'.repeat(1100)}"}`, '413 PAYLOAD_TOO_LARGE'],
    ['a body over the size limit', `{"name":"${'x'.repeat(30_000)}"}`, '413 PAYLOAD_TOO_LARGE'],
  ])('%s: %#', async (_, body, expected) => {
    const response = await api.request('POST', '/rooms', body);
    const { status, body: problem } = response;
    expect(status === 201 ? '201' : `${status} ${(problem as { code: string }).code}`).toBe(expected);
    if (status !== 201) expect(response.headers.get('content-type')).toContain('application/problem+json');
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'nothing', ''])(
    'of the content type "%s" is refused',
    async (type) => {
      expect(await api.refused('POST', '/rooms', '{}', { 'content-type': type })).toBe('415 BAD_REQUEST');
    },
  );

  test('that is invalid is refused with the place and the reason, without the value that was sent', async () => {
    const titleFor = async (path: string, body: object) => {
      const { body: problem } = await api.request('POST', path, body);
      return (problem as { title: string }).title;
    };
    expect(await titleFor('/rooms', { maxUsers: 1 })).toMatch(/^The body, maxUsers: /);
    expect(await titleFor('/rooms', { name: '   ' })).toBe('The body, name: 1 to 64 characters');
    expect(await titleFor('/rooms', { secret7: 1 })).toBe('The body: unknown field "secret7"');
    expect(await titleFor('/rooms', { ['\u202e"'.repeat(50)]: 'secret 7' })).toBe(
      `The body: unknown field "${'?\\"'.repeat(20)}"`,
    );
    expect(await titleFor('/rooms', { type: 'secret 7' })).not.toContain('secret 7');
    expect(await titleFor('/rooms', { access: 'secret7' })).not.toContain('secret7');
    expect(await titleFor(`/rooms/${code}/messages`, {})).toMatch(/^The body, data: /);
  });

  test('of a message may contain 4 KiB of JSON data; escapes do not count', async () => {
    const path = `/rooms/${code}/messages`;
    await api.expectStatus(202, 'POST', path, { data: 'x'.repeat(4094) });
    await api.expectStatus(202, 'POST', path, `{"data":"${'\\u0041'.repeat(4094)}"}`);
    expect(await api.refused('POST', path, { data: 'x'.repeat(4095) })).toBe('413 PAYLOAD_TOO_LARGE');
  });
});

describe('an invalid query', () => {
  test.each([
    'limit=0',
    'limit=101',
    'limit=-1',
    'limit=1e1',
    'limit=',
    'limit=1&limit=2',
    'locked=yes',
    'empty=',
    'type=a%20b',
    'lockd=true',
    '__proto__=1',
    'cursor=',
    'cursor=nonsense',
    'cursor=MTAw', // 100: there is no such shard
    'cursor=NzoxMjM0NTY', // 7:123456: a code of another shard
    'cursor=NTY6MTIzNDU2Nw', // 56:1234567: a digit too many
    `cursor=${'x'.repeat(600)}`,
  ])('of the list is refused: %s', async (query) => {
    expect(await api.refused('GET', `/rooms?${query}`)).toBe('422 BAD_REQUEST');
  });

  test.each(['?ref=nonsense', '?x=1'])('of a room is refused: %s', async (query) => {
    expect(await api.refused('GET', `/rooms/${code}${query}`)).toBe('422 BAD_REQUEST');
  });
});

describe('a path', () => {
  test.each([
    ['GET', '/nothing', '404 NOT_FOUND'],
    ['GET', '', '404 NOT_FOUND'],
    ['GET', '/rooms/', '404 ROOM_NOT_FOUND'],
    ['GET', '/rooms/abc', '404 ROOM_NOT_FOUND'],
    ['GET', '/rooms/012345', '404 ROOM_NOT_FOUND'],
    ['GET', '/rooms/1234567', '404 ROOM_NOT_FOUND'],
    ['GET', '/rooms/%00', '404 ROOM_NOT_FOUND'],
    ['GET', '/rooms/__proto__', '404 ROOM_NOT_FOUND'],
    ['DELETE', '/rooms/999998', '404 ROOM_NOT_FOUND'],
    ['POST', '/references/__proto__', '404 NOT_FOUND'],
    ['POST', '/references/nothing', '404 NOT_FOUND'],
    ['POST', '/references/order', '501 NOT_CONFIGURED'],
    ['GET', '/calls', '501 NOT_CONFIGURED'],
    ['GET', '/calls/ROM202600000001', '501 NOT_CONFIGURED'],
    ['GET', '/webhooks', '501 NOT_CONFIGURED'],
    ['GET', '/webhooks/any/dead', '501 NOT_CONFIGURED'],
    ['POST', '/webhooks/any/replay', '501 NOT_CONFIGURED'],
  ])('%s %s', async (method, path, expected) => {
    expect(await api.refused(method, path)).toBe(expected);
  });

  test('of an unknown member is answered with PEER_NOT_FOUND', async () => {
    expect(await api.refused('DELETE', `/rooms/${code}/members/a%20b`)).toBe('404 PEER_NOT_FOUND');
    expect(await api.refused('DELETE', `/rooms/${code}/members/nobody`)).toBe('404 PEER_NOT_FOUND');
  });

  test.each([
    ['PUT', '/rooms', 'POST, GET, HEAD'],
    ['POST', '/rooms/123456', 'GET, PATCH, DELETE, HEAD'],
    ['GET', '/rooms/123456/messages', 'POST'],
    ['DELETE', '/pool', 'GET, HEAD'],
  ])('with other methods is answered with the allowed methods: %s %s', async (method, path, allow) => {
    const { status, headers, body } = await api.request(method, path, method === 'GET' ? undefined : 'no JSON');
    expect(status).toBe(405);
    expect(headers.get('allow')).toBe(allow);
    expect(body).toMatchObject({ code: 'BAD_REQUEST', status: 405 });
  });

  test('with a malformed escape is answered with a problem', async () => {
    const { port } = nodes.servers[0] ?? expect.unreachable();
    const tcp = connect({ port, host: '127.0.0.1' });
    tcp.write(`GET /v1/rooms/%zz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ADMIN}\r\nConnection: close\r\n\r\n`);
    expect(await text(tcp)).toMatch(/^HTTP\/1\.1 400 .*application\/problem\+json/s);
  });
});

test.each(['a b', 'x'.repeat(65), '', 'é'])('the idempotency key "%s" is refused', async (key) => {
  expect(await api.refused('POST', '/rooms', {}, { 'idempotency-key': encodeURI(key) })).toBe('422 BAD_REQUEST');
});

describe('while Redis is away', () => {
  test('every request is refused at once as retryable', async () => {
    await using ann = await connectClient(nodes.url(0));
    await ann.must('room:join', { code });
    nodes.redis?.freeze();
    try {
      const requests = [
        ['GET', `/rooms/${code}`],
        ['GET', '/rooms'],
        ['GET', '/pool'],
        ['POST', '/rooms'],
        ['PATCH', `/rooms/${code}`],
        ['DELETE', `/rooms/${code}`],
        ['POST', `/rooms/${code}/messages`, { data: 1 }],
      ] as const;
      const responses = await Promise.all(requests.map(([method, path, body]) => api.request(method, path, body)));
      for (const { status, headers, body } of responses) {
        expect(status).toBe(503);
        expect(body).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
        expect(headers.get('retry-after')).toBe('1');
      }
    } finally {
      nodes.redis?.thaw();
    }
    await expect.poll(async () => (await api.request('GET', `/rooms/${code}`)).status, { timeout: 30_000 }).toBe(200);
  });
});

test('a room is not created while no reference can be issued', async () => {
  const references = {
    description: 'none, in these tests',
    generate: async () => Promise.reject(new ReferenceUnavailable('there are none')),
    record: () => {},
    close: async () => {},
  };
  await using empty = await startNodes(MEMORY, { adminToken: ADMIN }, { references: () => references });
  const { status, headers, body } = await createApiClient(empty.url(0)).request('POST', '/rooms');
  expect(status).toBe(503);
  expect(body).toMatchObject({ code: 'REFERENCE_UNAVAILABLE', retryable: true });
  expect(headers.get('retry-after')).toBe('1');
});

test('a fault is answered with the id of its log line and without its text', async () => {
  const lines: string[] = [];
  const references = {
    description: 'broken, in these tests',
    generate: async () => Promise.reject(new Error('the secret of the database')),
    record: () => {},
    close: async () => {},
  };
  const log = pino({}, { write: (line) => void lines.push(line) });
  await using broken = await startNodes(MEMORY, { adminToken: ADMIN }, { references: () => references, log });
  const { status, body } = await createApiClient(broken.url(0)).request('POST', '/rooms');
  expect(status).toBe(500);
  expect(JSON.stringify(body)).not.toContain('secret');
  const { title, code } = body as { title: string; code: string }; // a problem, as everywhere
  expect(code).toBe('INTERNAL');
  const [, logId = 'none'] = /logged as ([\w-]+)\.$/.exec(title) ?? [];
  expect(lines.filter((line) => line.includes(logId) && line.includes('the secret of the database'))).toHaveLength(1);
});

test('the last free code is allocated, and the refusal after it says when the next code has cooled', async () => {
  await using few = await startNodes(MEMORY, { adminToken: ADMIN, poolSize: 100, codeCooldownMs: 60_000 });
  const small = createApiClient(few.url(0));
  const rooms = [];
  for (let n = 0; n < 100; n += 1) rooms.push(await createRoom(small));
  await small.expectStatus(204, 'DELETE', `/rooms/${rooms[0]?.code}`);
  const { status, headers, body } = await small.request('POST', '/rooms');
  expect(status).toBe(503);
  expect(body).toMatchObject({ code: 'POOL_EXHAUSTED', retryable: true });
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(30);
});
