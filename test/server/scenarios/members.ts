/** Those who meet in scenarios, and how a scenario looks at them. */
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
  /** As Ben found it. */
  readonly room: RoomSnapshot;
}

/** Ann has made a room and Ben has joined it. Nothing of that is left to be heard. */
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

/** What it takes to come back as the same user. */
export function tokenOf(client: TestClient): string {
  return welcomeOf(client).resume;
}

export function welcomeOf(client: TestClient) {
  const [welcome] = client.all('welcome');
  return welcome ?? expect.unreachable('it was not welcomed');
}

/** Connects, must be refused, and gives the typed error. */
export async function refusedHandshake(url: string, auth: object): Promise<ErrorBody> {
  await using client = new TestClient(url, auth);
  return await new Promise((resolve, reject) => {
    client.socket.once('connect_error', (error: Error & { data?: ErrorBody }) =>
      error.data === undefined ? reject(error) : resolve(error.data),
    );
    client.socket.once('connect', () => reject(new Error('it was let in')));
  });
}

/** What the engine says of a room. */
export async function storedRoom(
  nodes: Nodes,
  { code, ref }: Pick<RoomSnapshot, 'code' | 'ref'>,
): Promise<RoomSnapshot> {
  const outcome = await nodes.servers[0]?.engine.apply({ kind: 'read', code, ref });
  return outcome?.ok ? outcome.room : expect.unreachable('the engine does not know the room');
}

let hushes = 0;

/**
 * When it resolves, whatever the speakers' nodes have sent to the room before has reached the listener: a message that
 * each of them sends now came after it. The request before it comes after what the node had asked of the store.
 */
export async function flushPushes(listener: TestClient, ...speakers: TestClient[]): Promise<void> {
  for (const speaker of speakers) {
    hushes += 1;
    const mark = `hush ${hushes}`;
    await speaker.must('room:get');
    await speaker.must('message', { data: mark });
    await listener.next('message', ({ data }) => data === mark);
  }
}

export const hasUserId =
  (userId: string) =>
  (body: { readonly userId: string }): boolean =>
    body.userId === userId;
