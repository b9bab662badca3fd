/** Derives `docs/asyncapi.json`: the sockets and the feed as an AsyncAPI document, from the schemas that the server parses with. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { DEFAULT_PREFIX } from '../src/engine/engine.ts';
import { createKeys } from '../src/engine/redis/keys.ts';
import { ERRORS } from '../src/protocol/errors.ts';
import { FEED } from '../src/protocol/feed.ts';
import { PROTOCOL_VERSION } from '../src/protocol/limits.ts';
import * as table from '../src/protocol/messages.ts';
import * as schemas from '../src/protocol/snapshot.ts';

/** Written once and referred to. */
const NAMED: Readonly<Record<string, z.ZodType>> = {
  Handshake: table.handshake,
  RoomSnapshot: schemas.roomSnapshot,
  RoomInfo: schemas.roomInfo,
  Member: schemas.member,
  Profile: schemas.profile,
  RoomCode: schemas.roomCode,
  RoomRef: schemas.roomRef,
  UserId: schemas.userId,
  Limits: table.limits,
};

const REFUSAL = {
  type: 'object',
  required: ['ok', 'error'],
  properties: {
    ok: { const: false },
    error: {
      type: 'object',
      required: ['code', 'message', 'retryable'],
      properties: {
        code: { enum: Object.keys(ERRORS) },
        message: { type: 'string' },
        retryable: { type: 'boolean' },
        retryAfterMs: { type: 'integer', minimum: 0 },
      },
    },
  },
};

const keys = createKeys(DEFAULT_PREFIX);
const DATABASE = 'In a database of Redis other than 0 its number comes behind the prefix: `sb:@1:room:events`.';
const PREFIX = `Begins with the redisPrefix, ${DEFAULT_PREFIX} unless given.`;

/** Keys of AsyncAPI hold neither colons nor spaces; a push may have the name of a request. */
const ids = {
  request: (name: string) => name.replaceAll(':', '_'),
  reply: (name: string) => `${ids.request(name)}_reply`,
  push: (name: string) => `push_${ids.request(name)}`,
};

const inSocket = (id: string) => ({ $ref: `#/channels/socket/messages/${id}` });
const schemaAt = (id: string) => ({ $ref: `#/components/schemas/${id}` });
const fromEntries = <Entry, Result>(
  from: Readonly<Record<string, Entry>>,
  to: (name: string, entry: Entry) => readonly (readonly [string, Result])[],
) => Object.fromEntries(Object.entries(from).flatMap(([name, entry]) => to(name, entry)));

export const printAsyncApi = (): string => `${JSON.stringify(createDocument(), null, 2)}\n`;

function createDocument() {
  const { version, license } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const messages = createMessages();
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Signalbox',
      version,
      license: { name: license },
      description:
        `What clients and servers say over Socket.IO (version ${PROTOCOL_VERSION} of the protocol), and what back ends ` +
        'are told. In words: protocol.md, events.md and webhooks.md beside this document.',
    },
    servers: {
      node: { host: 'localhost:3000', protocol: 'socket.io', description: 'Any node, over WebSocket.' },
      redis: { host: 'localhost:6379', protocol: 'redis', description: 'The Redis of all nodes.' },
    },
    channels: createChannels(Object.keys(messages)),
    operations: createOperations(),
    components: { schemas: createSchemas(), messages },
  };
}

function createMessages() {
  const message = (name: string, summary: string, payload: object) => ({
    name,
    summary,
    contentType: 'application/json',
    payload,
  });
  return {
    ...fromEntries(table.REQUESTS, (name, { about }) => [
      [ids.request(name), message(name, about, schemaAt(ids.request(name)))],
      [ids.reply(name), message(name, `The acknowledgement of ${name}.`, schemaAt(ids.reply(name)))],
    ]),
    ...fromEntries(table.PUSHES, (name, { about }) => [
      [ids.push(name), message(name, about, schemaAt(ids.push(name)))],
    ]),
    ...fromEntries(FEED, (name, { about }) => [[name, message(name, about, schemaAt(name))]]),
  };
}

function createChannels(all: readonly string[]) {
  const ofFeed = (id: string) => Object.hasOwn(FEED, id);
  const refs = (some: readonly string[]) =>
    Object.fromEntries(some.map((id) => [id, { $ref: `#/components/messages/${id}` }]));
  const feed = { messages: refs(all.filter(ofFeed)) };
  const redis = { servers: [{ $ref: '#/servers/redis' }] };
  return {
    socket: {
      address: '/',
      description: 'The namespace /. `auth` of the handshake is a Handshake, the first push is `welcome`.',
      servers: [{ $ref: '#/servers/node' }],
      messages: refs(all.filter((id) => !ofFeed(id))),
    },
    channel: {
      address: keys.feedChannel,
      description: `Published, at most once. ${PREFIX} ${DATABASE}`,
      ...redis,
      ...feed,
    },
    stream: {
      address: keys.feeds[0],
      description: `A stream: the field \`event\` of its entries. ${PREFIX} On a Cluster, one for each shard.`,
      ...redis,
      ...feed,
    },
    webhooks: { address: null, description: 'The body of a signed POST, at least once.', ...feed },
  };
}

function createOperations() {
  const channel = { $ref: '#/channels/socket' };
  const feeds = { channel: 'at most once', stream: 'for consumer groups', webhooks: 'at least once' };
  return {
    ...fromEntries(table.REQUESTS, (name, { about }) => [
      [
        ids.request(name),
        {
          action: 'receive',
          channel,
          summary: about,
          messages: [inSocket(ids.request(name))],
          reply: { channel, messages: [inSocket(ids.reply(name))] },
        },
      ],
    ]),
    ...fromEntries(table.PUSHES, (name, { about }) => [
      [ids.push(name), { action: 'send', channel, summary: about, messages: [inSocket(ids.push(name))] }],
    ]),
    ...fromEntries(feeds, (where, how) => [
      [`feed_${where}`, { action: 'send', channel: { $ref: `#/channels/${where}` }, summary: `Every event, ${how}.` }],
    ]),
  };
}

function createSchemas() {
  const registry = z.registry<{ id: string }>();
  const add = (id: string, schema: z.ZodType) => void registry.add(schema, { id });
  for (const [id, schema] of Object.entries(NAMED)) add(id, schema);
  for (const [name, { payload, reply }] of Object.entries(table.REQUESTS)) {
    // Some share a schema, which has one place in a registry: each gets one of its own.
    add(ids.request(name), payload.clone());
    add(`${ids.reply(name)}_ok`, reply.extend({ ok: z.literal(true) }));
  }
  for (const [name, { body }] of Object.entries(table.PUSHES)) add(ids.push(name), body.clone());
  for (const [name, { body }] of Object.entries(FEED)) add(name, body);
  const { schemas: written } = z.toJSONSchema(registry, {
    uri: (id) => `#/components/schemas/${id}`,
    target: 'draft-7',
    // What goes over the wire, before this server brands it.
    io: 'input',
    // Opaque bodies: all JSON is valid.
    unrepresentable: 'any',
  });
  const plain = fromEntries(written, (id, { $schema: _schema, $id: _id, ...schema }) => [[id, schema]]);
  const replies = fromEntries(table.REQUESTS, (name) => [[ids.reply(name), replySchema(name)]]);
  return { ...plain, ...replies, Refusal: REFUSAL };
}

const replySchema = (name: string) => ({ oneOf: [schemaAt(`${ids.reply(name)}_ok`), schemaAt('Refusal')] });
