/** Operations on webhooks: the state of the endpoints, their dead letters, and replaying those. */
import { z } from 'zod';
import { feedEvent } from '../../../protocol/feed.ts';
import { instant } from '../../../protocol/snapshot.ts';
import type { Webhooks } from '../../../webhooks/webhooks.ts';
import { refuse } from '../../replies.ts';
import { EXAMPLES } from './examples.ts';
import { type InputOf, type Operation, operation, operationSpec, respond } from './operation.ts';
import { cursorQuery, integerQuery, schemaDocs } from './schemas.ts';

/** @param webhooks undefined when the server has no webhooks. */
export const webhookOperations = (webhooks: Webhooks | undefined): Operation[] => [
  operation(LIST_WEBHOOKS, () => runListWebhooks(webhooks)),
  operation(LIST_DEAD_LETTERS, (input) => runListDeadLetters(webhooks, input)),
  operation(REPLAY_DEAD_LETTERS, (input) => runReplayDeadLetters(webhooks, input)),
];

const LIMIT = { min: 1, max: 200, default: 50 };
const MAX_IDS = 1000;

const amount = z.int().nonnegative();
const endpoint = z
  .object({
    id: z.string(),
    origin: z.string().register(schemaDocs, {
      description: 'Origin of its URL. The rest of the URL may hold secrets and is not shown.',
    }),
    pending: amount,
    dead: amount,
    dropped: amount,
    lost: amount,
    lastError: z.object({ reason: z.string(), at: instant }).exactOptional(),
    lastDeliveredAt: instant.exactOptional(),
  })
  .register(schemaDocs, { id: 'WebhookEndpoint', description: 'State of a webhook endpoint, over all nodes.' });

const deadLetter = z
  .object({ event: feedEvent, attempts: amount, reason: z.string(), at: instant })
  .register(schemaDocs, { id: 'DeadLetter', description: 'An event whose delivery was given up. It can be replayed.' });

const endpointParams = z.object({
  id: z.string().max(64).register(schemaDocs, { description: 'Id of the endpoint, from the list of endpoints.' }),
});

const LIST_WEBHOOKS = operationSpec({
  id: 'listWebhooks',
  method: 'GET',
  path: '/webhooks',
  scope: 'read',
  tag: 'webhooks',
  summary: 'List webhook endpoints',
  description: 'The endpoints that receive the events of this server, with the number of events queued for each.',
  response: {
    statuses: { 200: 'The endpoints.' },
    body: z.object({ endpoints: z.array(endpoint) }),
    example: { endpoints: [EXAMPLES.endpoint] },
  },
  problems: ['NOT_CONFIGURED'],
  example: {},
});

async function runListWebhooks(webhooks: Webhooks | undefined) {
  if (webhooks === undefined) return noWebhooks();
  return respond(200, { endpoints: [...(await webhooks.endpoints())] });
}

const LIST_DEAD_LETTERS = operationSpec({
  id: 'listDeadLetters',
  method: 'GET',
  path: '/webhooks/{id}/dead',
  scope: 'read',
  tag: 'webhooks',
  summary: 'List dead letters',
  description: 'The dead letters of an endpoint, newest first: events whose delivery was given up.',
  params: endpointParams,
  query: z.strictObject({
    limit: integerQuery(LIMIT, 'Maximum number of dead letters in the page.').exactOptional(),
    cursor: cursorQuery('Cursor from an earlier page.').exactOptional(),
  }),
  response: {
    statuses: { 200: 'A page of dead letters, and the cursor of the next page, which is null at the end.' },
    body: z.object({ letters: z.array(deadLetter), cursor: z.string().nullable() }),
    example: { letters: [EXAMPLES.deadLetter], cursor: null },
  },
  problems: ['NOT_FOUND', 'NOT_CONFIGURED'],
  example: { params: { id: EXAMPLES.endpoint.id }, query: { limit: '20' } },
});

async function runListDeadLetters(
  webhooks: Webhooks | undefined,
  { params: { id }, query: { limit = LIMIT.default, cursor } }: InputOf<typeof LIST_DEAD_LETTERS>,
) {
  if (webhooks === undefined) return noWebhooks();
  const page = await webhooks.deadLetters(id, { cursor, limit });
  if (page !== undefined) return respond(200, { letters: [...page.letters], cursor: page.cursor });
  // An unknown endpoint and a malformed cursor both give undefined.
  const isKnown = (await webhooks.endpoints()).some((endpoint) => endpoint.id === id);
  return isKnown
    ? refuse('BAD_REQUEST', { message: 'The query, cursor: not a cursor of this list' })
    : unknownEndpoint();
}

const REPLAY_DEAD_LETTERS = operationSpec({
  id: 'replayDeadLetters',
  method: 'POST',
  path: '/webhooks/{id}/replay',
  scope: 'write',
  tag: 'webhooks',
  summary: 'Replay dead letters',
  description:
    'Delivers dead letters again: all of them, or those of the given events. An event that arrives twice has the same id.',
  params: endpointParams,
  body: z.strictObject({
    eventIds: z
      .array(z.string().min(1).max(128))
      .min(1)
      .max(MAX_IDS)
      .register(schemaDocs, { description: 'Ids of the events to replay. Default: all dead letters.' })
      .exactOptional(),
  }),
  response: {
    statuses: { 202: 'The number of dead letters that are delivered again.' },
    body: z.object({ replayed: amount }),
    example: { replayed: 1 },
  },
  problems: ['NOT_FOUND', 'NOT_CONFIGURED'],
  example: { params: { id: EXAMPLES.endpoint.id }, body: { eventIds: [EXAMPLES.deadLetter.event.id] } },
});

async function runReplayDeadLetters(
  webhooks: Webhooks | undefined,
  { params: { id }, body, setSubject }: InputOf<typeof REPLAY_DEAD_LETTERS>,
) {
  if (webhooks === undefined) return noWebhooks();
  setSubject({ endpoint: id });
  const replayed = await webhooks.replay(id, body);
  return replayed === undefined ? unknownEndpoint() : respond(202, { replayed });
}

const noWebhooks = () => refuse('NOT_CONFIGURED', { message: 'This server sends no webhooks.' });
const unknownEndpoint = () => refuse('NOT_FOUND', { message: 'No endpoint has this id.' });
