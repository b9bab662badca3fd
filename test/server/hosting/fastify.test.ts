/** Embedded in a Fastify instance: the routes are added, and nothing else of the instance changes. */
import fastify, { type FastifyInstance } from 'fastify';
import { expect, test } from 'vitest';
import { createServer, OptionError } from '../../../src/index.ts';
import { connectClient } from '../../support/client.ts';
import { welcomeOf } from '../scenarios/members.ts';

const ADMIN = { authorization: 'Bearer the-operator-of-this-test' };

/** An instance with its own error handlers, parsers and routes. */
function ownInstance(): FastifyInstance {
  const app = fastify();
  app.setErrorHandler((error, _request, reply) => reply.code(418).send(`own error: ${String(error)}`));
  app.setNotFoundHandler((_request, reply) => reply.code(404).send('own 404'));
  app.addContentTypeParser('application/x-own', { parseAs: 'string' }, (_request, body, done) =>
    done(null, `own ${String(body)}`),
  );
  app.get('/', async () => 'own root');
  app.get('/fails', async () => {
    throw new Error('on purpose');
  });
  app.post('/echo', async (request) => ({ body: request.body }));
  return app;
}

async function expectOwnBehaviour(url: string): Promise<void> {
  const post = (type: string, body: string) =>
    fetch(`${url}/echo`, { method: 'POST', headers: { 'content-type': type }, body });
  const root = await fetch(url);
  expect([await root.text(), root.headers.get('content-security-policy')]).toEqual(['own root', null]);
  expect(await (await fetch(`${url}/fails`)).text()).toBe('own error: Error: on purpose');
  for (const path of ['/nowhere', '/v1/pool', '/signaling/nowhere'])
    expect(await (await fetch(`${url}${path}`)).text()).toBe('own 404');
  expect(await (await post('application/x-own', 'body')).json()).toEqual({ body: 'own body' });
  expect(await (await post('application/json', '{"a":1}')).json()).toEqual({ body: { a: 1 } });
  expect((await post('application/unknown', '?')).status).toBe(418);
}

test('the routes are under the prefix, and the instance keeps its own behaviour before, during and after', async () => {
  const app = ownInstance();
  const signalbox = await createServer(
    { nodeId: 'within', adminToken: 'the-operator-of-this-test' },
    { server: app, prefix: '/signaling' },
  );
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  await expectOwnBehaviour(url);
  const health = await fetch(`${url}/signaling/healthz`);
  expect(await health.json()).toEqual({ ok: true, nodeId: 'within' });
  expect(health.headers.get('content-security-policy')).toMatch(/default-src 'self'/);
  expect((await fetch(`${url}/signaling/healthz`, { method: 'HEAD' })).status).toBe(200);
  expect(await (await fetch(`${url}/signaling/v1/pool`, { headers: ADMIN })).json()).toMatchObject({ occupied: 0 });
  const refused = await fetch(`${url}/signaling/v1/pool`);
  expect([refused.status, await refused.json()]).toEqual([401, expect.objectContaining({ code: 'UNAUTHENTICATED' })]);
  const create = { method: 'POST', headers: { ...ADMIN, 'content-type': 'application/json' } };
  const made = await fetch(`${url}/signaling/v1/rooms`, { ...create, body: '{"name":"Yard"}' });
  const { code } = await made.json();
  expect([made.status, made.headers.get('location')]).toEqual([201, `/signaling/v1/rooms/${code}`]);
  const found = await fetch(new URL(made.headers.get('location') ?? '', url), { headers: ADMIN });
  expect(await found.json()).toMatchObject({ code, name: 'Yard' });
  const malformed = await fetch(`${url}/signaling/v1/rooms`, { ...create, body: '{' });
  expect([malformed.status, await malformed.json()]).toEqual([400, expect.objectContaining({ code: 'BAD_REQUEST' })]);
  for (const path of ['/docs', '/docs/', '/docs/static/swagger-ui.css'])
    expect((await fetch(`${url}/signaling${path}`)).status).toBe(200);
  await using ann = await connectClient(url);
  await ann.must('room:create');
  await signalbox.close();
  await expectOwnBehaviour(url);
  expect((await fetch(`${url}/signaling/healthz`)).status).toBe(503);
  await app.close();
});

test('closing the instance closes the embedded server: clients are asked to reconnect and do not delay it', async () => {
  const app = fastify();
  const signalbox = await createServer({}, { server: app });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  await using ann = await connectClient(url);
  const closed = ann.closed();
  await app.close();
  expect((await ann.next('server:drain')).reconnectInMs).toBeGreaterThanOrEqual(0);
  expect(await closed).toBe('transport close');
  await signalbox.close();
});

test('the hooks of the instance run for the embedded routes', async () => {
  const app = fastify();
  const seen: string[] = [];
  app.addHook('onRequest', async (request, reply) => {
    seen.push(request.url);
    if (request.headers['x-own'] === undefined) return reply.code(403).send('own gate');
    return undefined;
  });
  const signalbox = await createServer({}, { server: app, prefix: '/signaling' });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  expect(await (await fetch(`${url}/signaling/healthz`)).text()).toBe('own gate');
  expect((await fetch(`${url}/signaling/healthz`, { headers: { 'x-own': '1' } })).status).toBe(200);
  expect(seen).toEqual(['/signaling/healthz', '/signaling/healthz']);
  await app.close();
  await signalbox.close();
});

test('inside a plugin both prefixes apply, also to polling', async () => {
  const app = fastify();
  app.register(
    async (scope) => {
      await createServer(
        { nodeId: 'deep', socketPath: '/api/rtc/socket', transports: ['polling', 'websocket'] },
        { server: scope, prefix: '/rtc' },
      );
    },
    { prefix: '/api' },
  );
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  expect(await (await fetch(`${url}/api/rtc/healthz`)).json()).toEqual({ ok: true, nodeId: 'deep' });
  const polled = await fetch(`${url}/api/rtc/socket/?EIO=4&transport=polling`);
  expect(await polled.text()).toMatch(/^0\{"sid":/);
  await using ann = await connectClient(url, {}, { path: '/api/rtc/socket' });
  expect(welcomeOf(ann).nodeId).toBe('deep');
  await app.close();
});

test('two servers in one instance work under different prefixes and paths', async () => {
  const app = fastify();
  await createServer({ nodeId: 'one', socketPath: '/one/socket' }, { server: app, prefix: '/one' });
  await createServer({ nodeId: 'two', socketPath: '/two/socket' }, { server: app, prefix: '/two' });
  const taken = createServer({ socketPath: '/one/socket' }, { server: app, prefix: '/three' });
  await expect(taken).rejects.toThrow(/^socketPath: .* is taken/);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  expect((await fetch(`${url}/three/healthz`)).status).toBe(404);
  for (const name of ['one', 'two']) {
    expect(await (await fetch(`${url}/${name}/healthz`)).json()).toEqual({ ok: true, nodeId: name });
    await using client = await connectClient(url, {}, { path: `/${name}/socket` });
    expect(welcomeOf(client).nodeId).toBe(name);
  }
  await app.close();
});

test('an impossible embedding is refused at once', async () => {
  const app = fastify();
  await app.register(
    async (scope) => {
      await expect(createServer({ transports: ['polling'] }, { server: scope })).rejects.toThrow(OptionError);
    },
    { prefix: '/api' },
  );
  await app.listen({ host: '127.0.0.1', port: 0 });
  // Fastify accepts no routes after listening.
  await expect(createServer({}, { server: app })).rejects.toThrow(/embed before/);
  expect(app.server.listenerCount('upgrade')).toBe(0);
  await app.close();
});
