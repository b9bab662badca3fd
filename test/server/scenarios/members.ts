/** Clients in a room, and what scenarios read from them and from the engine. */
import { expect } from 'vitest';
import type { ErrorBody } from '../../../src/protocol/errors.ts';
import type { RequestPayload } from '../../../src/protocol/events.ts';
import type { RoomSnapshot } from '../../../src/protocol/snapshot.ts';
import { connectClient, TestClient } from '../../support/client.ts';
import type { Nodes } from '../../support/nodes.ts';

interface Pair extends AsyncDisposable {
  /** The host, on the first node. */
  readonly ann: TestClient;
  /** On the next node, where there is one. */
  readonly ben: TestClient;
  /** As the reply to Ben's join has it. */
  readonly room: RoomSnapshot;
}

/** Ann has created a room and Ben has joined it. Both have received every push of that. */
export async function joinedPair(nodes: Nodes, settings: RequestPayload<'room:create'> = {}): Promise<Pair> {
  const [ann, ben] = await Promise.all([connectClient(nodes.url(0)), connectClient(nodes.url(1))]);
  const { room: made } = await ann.must('room:create', settings);
  const { room } = await ben.must('room:join', { code: made.code });
  await ann.next('member:joined');
  return {
    ann,
    ben,
    room,
    async [Symbol.asyncDispose]() {
      await Promise.all([ann[Symbol.asyncDispose](), ben[Symbol.asyncDispose]()]);
    },
  };
}

/** The resume token: a connection with it is of the same user. */
export function tokenOf(client: TestClient): string {
  return welcomeOf(client).resume;
}

export function welcomeOf(client: TestClient) {
  const [welcome] = client.all('welcome');
  return welcome ?? expect.unreachable('no welcome was received');
}

/** Connects with a handshake that must be refused. @returns the error. */
export async function refusedHandshake(url: string, auth: object): Promise<ErrorBody> {
  await using client = new TestClient(url, auth);
  return await new Promise((resolve, reject) => {
    client.socket.once('connect_error', (error: Error & { data?: ErrorBody }) =>
      error.data === undefined ? reject(error) : resolve(error.data),
    );
    client.socket.once('connect', () => reject(new Error('the handshake was accepted')));
  });
}

/** The room as the engine has it. */
export async function storedRoom(
  nodes: Nodes,
  { code, ref }: Pick<RoomSnapshot, 'code' | 'ref'>,
): Promise<RoomSnapshot> {
  const outcome = await nodes.servers[0]?.engine.apply({ kind: 'read', code, ref });
  return outcome?.ok ? outcome.room : expect.unreachable('the engine does not know the room');
}

let flushes = 0;

/**
 * Barrier: resolves when every push that the speakers' nodes have sent to the room before has reached the listener. Each
 * speaker sends a message, which arrives after those; its request before waits for what its node had asked the store.
 */
export async function flushPushes(listener: TestClient, ...speakers: TestClient[]): Promise<void> {
  for (const speaker of speakers) {
    flushes += 1;
    const mark = `flush ${flushes}`;
    await speaker.must('room:get');
    await speaker.must('message', { data: mark });
    await listener.next('message', ({ data }) => data === mark);
  }
}

export const hasUserId =
  (userId: string) =>
  (body: { readonly userId: string }): boolean =>
    body.userId === userId;
