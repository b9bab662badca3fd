/** Webhooks: how their endpoints do, what could not be delivered, and sending that again. */
import { z } from 'zod';
import { feedEvent } from '../../../protocol/feed.ts';
import { instant } from '../../../protocol/snapshot.ts';
import type { Webhooks } from '../../../webhooks/webhooks.ts';
import { refuse } from '../../replies.ts';
import { EXAMPLES } from './examples.ts';
import { done, type Operation, operation } from './operation.ts';
import { count, cursor, shown } from './schemas.ts';

const LIMIT = { least: 1, most: 200, unlessGiven: 50 };
const MAX_IDS = 1000;

const amount = z.int().nonnegative();
const endpoint = z
  .object({
    id: z.string(),
    origin: z.string().register(shown, { description: 'The rest of its address may hold secrets, and is not shown.' }),
    pending: amount,
    dead: amount,
    dropped: amount,
    lost: amount,
    lastError: z.object({ reason: z.string(), at: instant }).exactOptional(),
    lastDeliveredAt: instant.exactOptional(),
  })
  .register(shown, { id: 'WebhookEndpoint', description: 'How an endpoint does, on all nodes together.' });

const letter = z
  .object({ event: feedEvent, attempts: amount, reason: z.string(), at: instant })
  .register(shown, { id: 'DeadLetter', description: 'An event that is tried no more, until somebody replays it.' });

const ofEndpoint = z.object({
  id: z.string().max(64).register(shown, { description: 'Of the endpoint, as the list has it.' }),
});

/** @param webhooks undefined where none are configured. */
export const webhookOperations = (webhooks: Webhooks | undefined): Operation[] => [
  listing(webhooks),
  reading(webhooks),
  replaying(webhooks),
];

const listing = (webhooks: Webhooks | undefined) =>
  operation({
    id: 'listWebhooks',
    method: 'GET',
    path: '/webhooks',
    scope: 'read',
    tag: 'webhooks',
    summary: 'How webhooks do',
    about: 'The endpoints that this server sends events to, and what waits for each.',
    answer: {
      statuses: { 200: 'The endpoints.' },
      body: z.object({ endpoints: z.array(endpoint) }),
      example: { endpoints: [EXAMPLES.endpoint] },
    },
    problems: ['NOT_CONFIGURED'],
    example: {},
    async run() {
      if (webhooks === undefined) return sendsNone();
      return done(200, { endpoints: [...(await webhooks.endpoints())] });
    },
  });

const reading = (webhooks: Webhooks | undefined) =>
  operation({
    id: 'listDeadLetters',
    method: 'GET',
    path: '/webhooks/{id}/dead',
    scope: 'read',
    tag: 'webhooks',
    summary: 'List what could not be delivered',
    about: 'The dead letters of an endpoint, newest first.',
    params: ofEndpoint,
    query: z.strictObject({
      limit: count(LIMIT.least, LIMIT.most, LIMIT.unlessGiven, 'How many at most.').exactOptional(),
      cursor: cursor().exactOptional(),
    }),
    answer: {
      statuses: { 200: 'Some letters, and where the next ones begin: `cursor` is null at the end.' },
      body: z.object({ letters: z.array(letter), cursor: z.string().nullable() }),
      example: { letters: [EXAMPLES.deadLetter], cursor: null },
    },
    problems: ['NOT_FOUND', 'NOT_CONFIGURED'],
    example: { params: { id: EXAMPLES.endpoint.id }, query: { limit: '20' } },
    async run({ params: { id }, query: { limit = LIMIT.unlessGiven, cursor } }) {
      if (webhooks === undefined) return sendsNone();
      const page = await webhooks.deadLetters(id, { cursor, limit });
      if (page !== undefined) return done(200, { letters: [...page.letters], cursor: page.cursor });
      // It says the same of an endpoint that it does not know, and of a cursor that is none.
      const isKnown = (await webhooks.endpoints()).some((endpoint) => endpoint.id === id);
      return isKnown ? refuse('BAD_REQUEST', { message: 'The query, cursor: none of a page of letters' }) : unknown();
    },
  });

const replaying = (webhooks: Webhooks | undefined) =>
  operation({
    id: 'replayDeadLetters',
    method: 'POST',
    path: '/webhooks/{id}/replay',
    scope: 'write',
    tag: 'webhooks',
    summary: 'Send again what could not be delivered',
    about: 'Sends dead letters again: all, or those of some events. What arrives twice has the same event id.',
    params: ofEndpoint,
    body: z.strictObject({
      eventIds: z
        .array(z.string().min(1).max(128))
        .min(1)
        .max(MAX_IDS)
        .register(shown, { description: 'The events; all dead letters unless given.' })
        .exactOptional(),
    }),
    answer: {
      statuses: { 202: 'So many are sent again.' },
      body: z.object({ replayed: amount }),
      example: { replayed: 1 },
    },
    problems: ['NOT_FOUND', 'NOT_CONFIGURED'],
    example: { params: { id: EXAMPLES.endpoint.id }, body: { eventIds: [EXAMPLES.deadLetter.event.id] } },
    async run({ params: { id }, body, note }) {
      if (webhooks === undefined) return sendsNone();
      note({ endpoint: id });
      const replayed = await webhooks.replay(id, body);
      return replayed === undefined ? unknown() : done(202, { replayed });
    },
  });

const sendsNone = () => refuse('NOT_CONFIGURED', { message: 'This server sends no webhooks.' });
const unknown = () => refuse('NOT_FOUND', { message: 'No endpoint has this id.' });
