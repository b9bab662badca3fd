/** Many clients connect, join, leave and vanish at once: no event is missed, and no seat or code is left over. */
import { expect, vi } from 'vitest';
import type { RoomSnapshot } from '../../../src/protocol/snapshot.ts';
import { connectClient, TestClient } from '../../support/client.ts';
import type { Nodes } from '../../support/nodes.ts';
import { joinedPair, storedRoom } from './members.ts';
import { figuresOf } from './pool.ts';
import { roomSeenBy } from './room-view.ts';
import type { Scenario } from './run-scenarios.ts';

const PER_SECOND = 50;
const VISITS = 100;
const VISITORS = 15;
const MANY = 200;
const AT_A_TIME = 20;

/** Joins, waits until every event so far has arrived, and leaves. */
async function visit(guest: TestClient, code: string): Promise<void> {
  const { room } = await guest.must('room:join', { code });
  await vi.waitFor(() => expect(roomSeenBy(guest, room)?.members.length).toBeGreaterThan(0), {
    timeout: 30_000,
    interval: 5,
  });
  await guest.must('room:leave');
}

/** Starts `count` tasks at `PER_SECOND`, without waiting for the ones before. */
async function paced(count: number, work: (n: number) => Promise<void>): Promise<void> {
  const began = performance.now();
  const works: Promise<void>[] = [];
  while (works.length < count) {
    const due = Math.min(count, 1 + Math.floor(((performance.now() - began) * PER_SECOND) / 1000));
    while (works.length < due) works.push(work(works.length));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await Promise.all(works);
}

async function inBatches(count: number, work: (n: number) => Promise<void>): Promise<void> {
  for (let first = 0; first < count; first += AT_A_TIME) {
    await Promise.all(Array.from({ length: AT_A_TIME }, (_, n) => work(first + n)));
  }
}

/**
 * The room when nothing has happened in it for several times the grace: a client that has gone may have a join under way
 * which the server has not got to yet.
 */
async function settledRoom(nodes: Nodes, room: RoomSnapshot): Promise<RoomSnapshot> {
  let last = room;
  let since = performance.now();
  await vi.waitFor(
    async () => {
      const truth = await storedRoom(nodes, room);
      if (truth.rev !== last.rev) since = performance.now();
      last = truth;
      expect(performance.now() - since).toBeGreaterThan(1_500);
    },
    { timeout: 30_000, interval: 50 },
  );
  return last;
}

/** Waits until only that many codes are taken, and none is cooling. */
async function expectOccupied(nodes: Nodes, occupied: number): Promise<void> {
  await vi.waitFor(
    async () => expect(await figuresOf(nodes)).toMatchObject({ occupied, cooling: 0, free: 900_000 - occupied }),
    { timeout: 30_000, interval: 200 },
  );
}

export const churn: Readonly<Record<string, Scenario>> = {
  async 'every client has the room without a gap at fifty joins and fifty leaves a second'(nodes) {
    await using pair = await joinedPair(nodes, { maxUsers: 100 });
    const { ann, ben } = pair;
    const stayers: { client: TestClient; room: RoomSnapshot }[] = [
      { client: ann, room: pair.room },
      { client: ben, room: pair.room },
    ];
    for (const n of [0, 1]) {
      const client = await connectClient(nodes.url(n));
      const { room } = await client.must('room:join', { code: pair.room.code });
      stayers.push({ client, room });
    }
    const visitors = await Promise.all(Array.from({ length: VISITORS }, (_, n) => connectClient(nodes.url(n))));
    const last = visitors.map(() => Promise.resolve());
    await paced(VISITS, (n) => {
      const index = n % VISITORS;
      const guest = visitors[index] ?? expect.unreachable();
      // Each visitor's own visits one after the other, and all of the visitors at once.
      const next = (last[index] ?? Promise.resolve()).then(() => visit(guest, pair.room.code));
      last[index] = next;
      return next;
    });
    const truth = await storedRoom(nodes, pair.room);
    expect(truth.rev).toBe(pair.room.rev + 2 + 2 * VISITS);
    expect(truth.members).toHaveLength(stayers.length);
    for (const { client, room } of stayers) {
      await vi.waitFor(() => expect(roomSeenBy(client, room)).toEqual(truth), { timeout: 30_000 });
    }
    for (const client of [...visitors, ...stayers.map(({ client }) => client)]) client.socket.disconnect();
  },

  async 'clients that join and vanish at once leave no seat'(nodes) {
    await using pair = await joinedPair(nodes, { maxUsers: 100 });
    const { ann, ben, room } = pair;
    await inBatches(MANY, async (n) => {
      const guest = await connectClient(nodes.url(n));
      guest.socket.emit('room:join', { code: room.code });
      // Some say that they go, some are cut off, and some do so when the server has just begun.
      if (n % 4 < 2) await new Promise((resolve) => setImmediate(resolve));
      if (n % 2 === 0) guest.socket.disconnect();
      else guest.cut();
    });
    const truth = await settledRoom(nodes, room);
    expect(truth.members.map(({ userId }) => userId)).toEqual([ann.userId, ben.userId]);
    for (const client of [ann, ben]) {
      await vi.waitFor(() => expect(roomSeenBy(client, room)).toEqual(truth), { timeout: 30_000 });
    }
    await ann.must('room:close');
    await expectOccupied(nodes, 0);
  },

  async 'clients that create a room and vanish at once leave no code taken'(nodes) {
    await using ann = await connectClient(nodes.url(0));
    const { room } = await ann.must('room:create');
    await inBatches(MANY / 2, async (n) => {
      const guest = await connectClient(nodes.url(n));
      guest.socket.emit('room:create', {});
      if (n % 2 === 0) guest.socket.disconnect();
      else guest.cut();
    });
    await expectOccupied(nodes, 1);
    expect(await storedRoom(nodes, room)).toEqual(room);
    await ann.must('room:close');
    await expectOccupied(nodes, 0);
  },

  async 'a server works on when clients connect and vanish at once'(nodes) {
    await using ann = await connectClient(nodes.url(0));
    await inBatches(MANY / 2, async (n) => {
      const guest = new TestClient(nodes.url(n));
      await new Promise((resolve) => guest.socket.io.once('open', () => resolve(undefined)));
      guest.cut();
    });
    await ann.must('room:create');
    await ann.must('room:close');
  },
};
