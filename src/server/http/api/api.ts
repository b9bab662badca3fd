/** The REST API for back ends, below `/v1`, and its OpenAPI document at `/docs`. */
import type { FastifyInstance } from 'fastify';
import { createTokenCheck, readAdminTokens } from '../../auth/admin-tokens.ts';
import type { ServerContext } from '../../context.ts';
import type { ClientAddress } from '../../limits/client-address.ts';
import type { GuessLimiter } from '../../limits/guess-limiter.ts';
import type { Drain } from '../../presence/drain.ts';
import type { CodeAllocator } from '../../rooms/code-allocator.ts';
import { ApiAccess } from './access.ts';
import { callOperations } from './calls.ts';
import { addDocs } from './docs.ts';
import { documentOf, PREFIX } from './document.ts';
import { listOperations } from './list-rooms.ts';
import { memberOperations } from './members.ts';
import { mount } from './mount.ts';
import type { Operation } from './operation.ts';
import { poolOperations } from './pool.ts';
import { referenceOperations } from './references.ts';
import { createRoomLookup } from './room-lookup.ts';
import { roomOperations } from './rooms.ts';
import { webhookOperations } from './webhooks.ts';

export interface ApiDeps {
  readonly context: ServerContext;
  readonly allocator: CodeAllocator;
  readonly drain: Drain;
  readonly addressOf: ClientAddress;
  readonly wrongTokens: GuessLimiter;
}

const VERSION = '1.0.0';

/** Sections of the document, in its order. */
const TAGS = {
  rooms: 'Create, read, change and close rooms, without being a member.',
  members: 'Members of a room.',
  pool: 'The pool of room codes.',
  references: 'Reference numbers that never repeat.',
  calls: 'Records of rooms, which remain after a room has ended.',
  webhooks: 'Delivery of events to back ends.',
} as const;

export function addApi(app: FastifyInstance, deps: ApiDeps): void {
  const { context } = deps;
  const { adminToken, adminTokens, apiPerMinute, apiDocs } = context.options;
  const findToken = createTokenCheck(readAdminTokens(adminToken, adminTokens));
  const access = new ApiAccess(findToken, deps);
  const operations = operationsOf(deps);
  if (apiDocs) addDocs(app, documentOf(operations, { version: VERSION, tags: TAGS }));
  const { faults, log } = context;
  app.register((routes) => mount(routes, operations, { access, faults, log, perMinute: apiPerMinute }), {
    prefix: PREFIX,
  });
}

function operationsOf({ context, allocator }: ApiDeps): readonly Operation[] {
  const lookup = createRoomLookup(context);
  return [
    ...roomOperations({ context, allocator, lookup }),
    ...listOperations(context),
    ...memberOperations({ context, lookup }),
    ...poolOperations(context, allocator),
    ...referenceOperations(context),
    ...callOperations(context.calls),
    ...webhookOperations(context.webhooks),
  ];
}
