/** `docs/asyncapi.json` is what the source prints, is valid AsyncAPI 3.0, and describes the messages that servers send. */
import { readFileSync } from 'node:fs';
import specs from '@asyncapi/specs';
import { Ajv, type SchemaObject } from 'ajv';
import formats from 'ajv-formats';
import { expect, test } from 'vitest';
import { printAsyncApi } from '../../scripts/asyncapi.ts';
import { FEED } from '../../src/protocol/feed.ts';
import { PUSHES, REQUESTS } from '../../src/protocol/messages.ts';
import { connectClient } from '../support/client.ts';
import { startNodes, TOPOLOGIES } from '../support/nodes.ts';

const text = readFileSync(new URL('../../docs/asyncapi.json', import.meta.url), 'utf8');
const document = JSON.parse(text);

/** Follows every reference of the document; ajv is given the whole of it. */
function validatorOf(id: string) {
  const ajv = new Ajv({ strict: false });
  formats.default(ajv);
  ajv.addSchema(document, 'document');
  return ajv.compile({ $ref: `document#/components/schemas/${id}` });
}

test('docs/asyncapi.json is what `npm run docs` prints', () => {
  expect(text, 'docs/asyncapi.json is stale: run `npm run docs`').toBe(printAsyncApi());
});

test('the document is valid AsyncAPI 3.0', () => {
  const ajv = new Ajv({ strict: false, unicodeRegExp: false, meta: false, validateSchema: false });
  // The specification brings its own copy of the meta schema.
  formats.default(ajv);
  // The two packages spell JSON Schema in types that differ in `undefined`.
  const validate = ajv.compile(specs.schemas['3.0.0'] as SchemaObject);
  validate(document);
  expect(validate.errors ?? []).toEqual([]);
  // It would be seen.
  expect(validate({ ...document, operations: { one: { action: 'shout', channel: {} } } })).toBe(false);
});

test('every reference in the document resolves', () => {
  const refs = [...text.matchAll(/"\$ref": "#\/([^"]+)"/g)].map(([, path = '']) => path);
  expect(refs.length).toBeGreaterThan(100);
  const found = (path: string) =>
    path.split('/').reduce<unknown>((at, key) => at && Reflect.get(Object(at), key.replaceAll('~1', '/')), document);
  expect(refs.filter((path) => found(path) === undefined)).toEqual([]);
});

test('every request, push and event is described, once', () => {
  const names = Object.values(document.components.messages as Record<string, { name: string }>).map(({ name }) => name);
  const requests = Object.keys(REQUESTS);
  const all = [...requests, ...requests, ...Object.keys(PUSHES), ...Object.keys(FEED)];
  expect(names.toSorted()).toEqual(all.toSorted());
});

test.each(TOPOLOGIES)('messages on the wire match the document: $name', async (topology) => {
  await using nodes = await startNodes(topology);
  const ann = await connectClient(nodes.url(0), { name: 'Ann' });
  const ben = await connectClient(nodes.url(1));
  const said: (readonly [string, unknown])[] = [];
  for (const person of [ann, ben]) {
    person.socket.onAny((name: string, body: unknown) => said.push([`push_${name.replaceAll(':', '_')}`, body]));
  }
  const ask = async (person: typeof ann, name: keyof typeof REQUESTS, payload: object) => {
    const id = name.replaceAll(':', '_');
    const reply = await person.socket.emitWithAck(name, payload as never);
    said.push([id, payload], [`${id}_reply`, reply]);
    return reply as { room: { code: string } };
  };
  const { room } = await ask(ann, 'room:create', { name: 'Talk', metadata: { a: [1] } });
  await ask(ben, 'room:join', { code: room.code, profile: { mediaType: 'video' } });
  await ask(ben, 'room:join', { code: '999999' });
  await ask(ben, 'profile', { name: 'Ben' });
  await ask(ann, 'room:update', { locked: true });
  await ask(ann, 'signal', { to: ben.userId, data: { sdp: 'v=0' } });
  await ask(ann, 'message', { data: 'hello' });
  await ask(ann, 'heartbeat', { rev: 1 });
  await ask(ben, 'ice', {});
  await ask(ben, 'room:get', {});
  await ask(ann, 'room:kick', { userId: ben.userId });
  await ask(ann, 'room:close', {});
  await ask(ann, 'room:leave', {});
  ann.socket.disconnect();
  const { events } = (await nodes.servers[0]?.engine.feed.read({ limit: 100 })) ?? { events: [] };
  expect(events.length).toBeGreaterThan(5);
  for (const event of events) said.push([event.type, JSON.parse(JSON.stringify(event))]);
  for (const [id, body] of said) {
    const validate = validatorOf(id);
    validate(body);
    expect(validate.errors ?? [], `${id}: ${JSON.stringify(body)}`).toEqual([]);
  }
});
