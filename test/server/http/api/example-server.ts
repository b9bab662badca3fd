/** A server with everything the API uses: a ledger, call records, and a webhook endpoint that refuses every event. */
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, vi } from 'vitest';
import { createServer, type PartialOptions, silentLog } from '../../../../src/index.ts';
import type { RoomSnapshot } from '../../../../src/protocol/snapshot.ts';
import { EXAMPLES } from '../../../../src/server/http/api/examples.ts';
import { connectClient } from '../../../support/client.ts';
import type { ManualClock } from '../../../support/manual-clock.ts';
import { temporaryFolder } from '../../../support/process.ts';
import { runningClock } from '../../../support/running-clock.ts';
import { ADMIN, type ApiClient, createApiClient, createRoom } from './api-client.ts';

export interface ExampleServer extends AsyncDisposable {
  readonly url: string;
  readonly api: ApiClient;
  /** A room with one member, its call record, an endpoint and a dead letter: their ids replace those of the examples. */
  createFixture(): Promise<ExampleFixture>;
}

export interface ExampleFixture extends AsyncDisposable {
  readonly room: RoomSnapshot;
  readonly userId: string;
  /** Replaces the ids of an example by the ids of this fixture. */
  withRealIds(example: string): string;
}

export async function startExampleServer(options: PartialOptions = {}): Promise<ExampleServer> {
  const folder = await temporaryFolder();
  const refusing = createHttpServer((_request, response) => response.writeHead(500).end()).listen(0, '127.0.0.1');
  await once(refusing, 'listening');
  // A server that listens on TCP has an address with a port.
  const { port } = refusing.address() as AddressInfo;
  // The tests advance the clock instead of waiting.
  const clock = runningClock();
  const settings: PartialOptions = {
    host: '127.0.0.1',
    port: 0,
    demo: false,
    adminToken: ADMIN,
    dataDir: folder.path,
    apiPerMinute: 100_000,
    webhookUrls: [`http://127.0.0.1:${port}/hook`],
    webhookSecrets: ['a-secret-of-these-tests'],
    webhookAllowPrivate: true,
    webhookEvents: ['room_created'],
    // Delivery ends after the minimum number of attempts, which takes a quarter of a minute.
    webhookGiveUpMs: 0,
    ...options,
  };
  const server = await createServer(settings, { clock, log: silentLog });
  const api = createApiClient(server.url.replace('localhost', '127.0.0.1'));
  const dead = await deadLetter(api, clock);
  return {
    url: server.url,
    api,
    createFixture: () => createFixture(server.url, api, dead, clock),
    async [Symbol.asyncDispose]() {
      await server.close();
      clock[Symbol.dispose]();
      refusing.closeAllConnections();
      refusing.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

interface Letters {
  readonly letters: readonly { readonly event: { readonly id: string } }[];
}

/** The first event that is sent to the endpoint and refused. */
async function deadLetter(
  api: ApiClient,
  clock: ManualClock,
): Promise<{ readonly endpointId: string; readonly eventId: string }> {
  await createRoom(api);
  const { endpoints } = await api.expectStatus<{ endpoints: { id: string }[] }>(200, 'GET', '/webhooks');
  const endpointId = endpoints[0]?.id ?? expect.unreachable();
  const read = async () => (await api.expectStatus<Letters>(200, 'GET', `/webhooks/${endpointId}/dead`)).letters;
  const isThere = async () => {
    clock.advance(1_000);
    expect(await read()).toHaveLength(1);
  };
  await vi.waitFor(isThere, PATIENCE);
  const eventId = (await read())[0]?.event.id ?? expect.unreachable();
  return { endpointId, eventId };
}

async function createFixture(
  url: string,
  api: ApiClient,
  { endpointId, eventId }: { readonly endpointId: string; readonly eventId: string },
  clock: ManualClock,
): Promise<ExampleFixture> {
  const { code } = await createRoom(api, { name: 'Consultation', metadata: { appointment: 4711 } });
  const ann = await connectClient(url, { name: 'Ada' });
  const { room } = await ann.must('room:join', { code, profile: { mediaType: 'video' } });
  const call = async () => (await api.request('GET', `/calls/${room.ref}`)).body;
  const isRecorded = async () => {
    clock.advance(500);
    expect(await call()).toMatchObject({ totalMembers: 1 });
  };
  await vi.waitFor(isRecorded, PATIENCE);
  const replacements = [
    [EXAMPLES.deadLetter.event.id, eventId],
    [EXAMPLES.room.ref, room.ref],
    [EXAMPLES.room.code, room.code],
    [EXAMPLES.userId, ann.userId],
    [EXAMPLES.endpoint.id, endpointId],
  ] as const;
  return {
    room,
    userId: ann.userId,
    withRealIds: (example) => replacements.reduce((text, [shown, real]) => text.replaceAll(shown, real), example),
    [Symbol.asyncDispose]: () => ann[Symbol.asyncDispose](),
  };
}

/** Call records and dead letters are written with a delay. */
const PATIENCE = { timeout: 60_000, interval: 50 };
