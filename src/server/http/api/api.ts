/** The API for back ends, below `/v1`, and its document at `/docs`. */
import type { FastifyInstance } from 'fastify';
import { createTokenCheck, readAdminTokens } from '../../auth/admin-tokens.ts';
import type { House } from '../../context.ts';
import type { Faults } from '../../faults.ts';
import type { ClientAddress } from '../../limits/client-address.ts';
import type { Drain } from '../../presence/drain.ts';
import type { Seating } from '../../presence/membership.ts';
import type { Allocation } from '../../rooms/code-allocator.ts';
import type { Relay } from '../../rooms/relay.ts';
import { createDoor } from './access.ts';
import { callOperations } from './calls.ts';
import { addDocs } from './docs.ts';
import { documentOf, PREFIX } from './document.ts';
import { listOperations } from './list-rooms.ts';
import { memberOperations } from './members.ts';
import { mount } from './mount.ts';
import type { Operation } from './operation.ts';
import { poolOperations } from './pool.ts';
import { referenceOperations } from './references.ts';
import { createFinding } from './room-lookup.ts';
import { roomOperations } from './rooms.ts';
import { webhookOperations } from './webhooks.ts';

/** What the API works with. */
export interface ApiParts {
  readonly house: House;
  readonly allocation: Allocation;
  readonly seating: Seating;
  readonly relay: Relay;
  readonly drain: Drain;
  readonly faults: Faults;
  readonly addressOf: ClientAddress;
}

const VERSION = '1.0.0';

/** In the order in which the document shows them. */
const TAGS = {
  rooms: 'Made, read, changed and ended, without a seat in them.',
  members: 'Who is in a room.',
  pool: 'The codes.',
  references: 'Numbers that never repeat.',
  calls: 'What is known of rooms after they have ended.',
  webhooks: 'Events that are sent to back ends.',
} as const;

export function addApi(app: FastifyInstance, parts: ApiParts): void {
  const { house, drain, addressOf, faults } = parts;
  const { adminToken, adminTokens, apiPerMinute, apiDocs } = house.options;
  const find = createTokenCheck(readAdminTokens(adminToken, adminTokens));
  const door = createDoor(house, find, addressOf, drain);
  const operations = operationsOf(parts);
  if (apiDocs) addDocs(app, documentOf(operations, { version: VERSION, tags: TAGS }));
  app.register((routes) => mount(routes, operations, { door, faults, log: house.log, perMinute: apiPerMinute }), {
    prefix: PREFIX,
  });
}

function operationsOf(parts: ApiParts): readonly Operation[] {
  const { house, allocation } = parts;
  const whole = { ...parts, finding: createFinding(house) };
  return [
    ...roomOperations(whole),
    ...listOperations(house),
    ...memberOperations(whole),
    ...poolOperations(house, allocation),
    ...referenceOperations(house),
    ...callOperations(house.calls),
    ...webhookOperations(house.webhooks),
  ];
}
