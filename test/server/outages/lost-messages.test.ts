/** Redis loses published messages on their way to the nodes: every list of members is right soon after the last change. */
import { expect, test, vi } from 'vitest';
import type { RoomSnapshot } from '../../../src/protocol/snapshot.ts';
import type { RoomEvent } from '../../../src/room/outcomes.ts';
import type { SignalboxServer } from '../../../src/server/signalbox.ts';
import { Clients } from '../../client/harness.ts';
import { replay } from '../../room/replay.ts';
import { connectClient, type TestClient } from '../../support/client.ts';
import { startLossyProxy } from '../../support/lossy-proxy.ts';
import { startNode } from '../../support/memory-node.ts';
import { startRedis } from '../../support/redis.ts';

/** Of ten seconds in production: lists are right within a tick and a half of the last change. */
const TICK_MS = 600;
const HEALED = { timeout: 15_000, interval: 50 };
const CHANGES = 40;

/** A client without the SDK that follows the rules of the protocol: events in order, and `room:get` for each gap. */
class RawMember {
  view: RoomSnapshot;
  gaps = 0;
  readonly client: TestClient;
  private reading = false;

  constructor(client: TestClient, snapshot: RoomSnapshot) {
    this.client = client;
    this.view = snapshot;
    client.socket.onAny((name: string, body: { rev?: number; ref?: string }) => {
      if (body.rev === undefined || body.ref !== this.view.ref || body.rev <= this.view.rev) return;
      const isNext = body.rev === this.view.rev + 1 && name !== 'room:rev';
      // What comes after a snapshot is replayed on it; the next event in order needs none.
      if (isNext) this.view = replay(this.view, { name, body } as RoomEvent) ?? this.view;
      else void this.read();
    });
  }

  private async read(): Promise<void> {
    if (this.reading) return;
    this.reading = true;
    this.gaps += 1;
    const reply = await this.client.ask('room:get');
    this.reading = false;
    if (reply.ok && reply.room !== undefined && reply.room.rev > this.view.rev) this.view = reply.room;
  }
}

const namesOf = (members: readonly { readonly userId: string; readonly name: string | null }[]) =>
  members.map(({ userId, name }) => `${userId} ${name}`);

/** Every n-th message, so that a run can be repeated. */
const oneOf = (n: number): (() => boolean) => {
  let count = 0;
  return () => {
    count += 1;
    return count % n === 0;
  };
};

test.each([20, 5])(
  'one of %i messages is lost: the lists of members are the truth soon after the last change',
  async (n) => {
    await using redis = await startRedis();
    const isLost = [oneOf(n), oneOf(n)];
    await using here = await startLossyProxy(
      redis.port,
      (channel) => channel.includes('#room:') && isLost[0]?.() === true,
    );
    await using there = await startLossyProxy(
      redis.port,
      (channel) => channel.includes('#room:') && isLost[1]?.() === true,
    );
    const options = { tickMs: TICK_MS, heartbeatIntervalMs: 5_000 };
    // One after the other: of nodes that start together on an empty Redis, none knows that no other one has rooms to restore.
    const servers: SignalboxServer[] = [];
    for (const { port } of [here, there]) {
      servers.push(await startNode({ ...options, redisUrl: `redis://127.0.0.1:${port}` }, {}));
    }
    const urls = servers.map(({ port }) => `http://127.0.0.1:${port}`);
    const [first = '', second = ''] = urls;
    await using clients = new Clients();
    // One room for all: a member with the SDK and one without it on each node.
    const ours = await clients.connect(first).create();
    const guest = await clients.connect(second).join(ours.code);
    const raw: RawMember[] = [];
    for (const url of [first, second]) {
      const client = await connectClient(url);
      raw.push(new RawMember(client, (await client.must('room:join', { code: ours.code })).room));
    }
    for (let change = 0; change < CHANGES; change += 1) {
      const member = raw[change % 2];
      await member?.client.ask('profile', { name: `name ${change}` });
      if (change % 10 !== 5) continue;
      await using passing = await connectClient(urls[change % 3 === 0 ? 0 : 1] ?? first);
      await passing.must('room:join', { code: ours.code });
      await passing.must('room:leave');
    }
    const stored = await servers[0]?.engine.apply({ kind: 'read', code: ours.code as never, ref: ours.ref as never });
    const truth = stored?.ok === true ? stored.room : expect.unreachable();
    await vi.waitFor(() => {
      for (const { view } of raw) expect(view).toEqual(truth);
      for (const room of [ours, guest]) expect(namesOf(room.members)).toEqual(namesOf(truth.members));
    }, HEALED);
    expect(here.lost + there.lost).toBeGreaterThan(0);
    expect(raw.reduce((sum, { gaps }) => sum + gaps, 0)).toBeGreaterThan(0);
    for (const { client } of raw) client.socket.disconnect();
    await Promise.all(servers.map((server) => server.close()));
  },
);
