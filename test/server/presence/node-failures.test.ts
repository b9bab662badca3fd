/** A node dies or drains: a returning member keeps its seat, and each other member leaves exactly once. */
import { describe, expect, test } from 'vitest';
import type { RoomSnapshot } from '../../../src/protocol/snapshot.ts';
import { connectClient, TestClient } from '../../support/client.ts';
import { eventually, type Fleet, startFleet } from '../../support/fleet.ts';

const TTL_MS = 5000;
const TICK_MS = 500;
const DRAIN_MS = 8000;
/** Lease, reaping tick, and a margin for a busy machine. */
const LATEST_LEFT_MS = TTL_MS + TICK_MS + 6000;
const ROOMS = 6;
const SEATS = 5;

interface Seated {
  client: TestClient;
  readonly node: number;
  readonly room: number;
  readonly seq: number;
}

const start = () => startFleet(3, { userTtlMs: TTL_MS, tickMs: TICK_MS, graceMs: 3000, drainMs: DRAIN_MS });

/** Thirty members: five in each of six rooms, ten on each node, every room on every node. */
async function seatAll(fleet: Fleet): Promise<Seated[]> {
  const seated: Seated[] = [];
  for (let room = 0; room < ROOMS; room += 1) {
    let snapshot: RoomSnapshot | undefined;
    for (let seat = 0; seat < SEATS; seat += 1) {
      const node = (room * SEATS + seat) % 3;
      const client = await connectClient(fleet.node(node).url);
      const reply = snapshot
        ? await client.must('room:join', { code: snapshot.code })
        : await client.must('room:create', {});
      snapshot = reply.room;
      seated.push({ client, node, room, seq: seat + 1 });
    }
  }
  return seated;
}

/** Resumes the member on another node. */
async function resumeOn(fleet: Fleet, member: Seated, node: number): Promise<void> {
  const [before] = member.client.all('welcome');
  const back = new TestClient(fleet.node(node).url, { resume: before?.resume ?? '' });
  const welcome = await back.next('welcome');
  expect(welcome.userId).toBe(before?.userId);
  const self = welcome.room?.members.find(({ userId }) => userId === welcome.userId);
  expect(self).toMatchObject({ seq: member.seq, state: 'present' });
  member.client = back;
}

const leftIds = ({ client }: Seated) => client.all('member:left').map(({ userId }) => userId as string);
const idOf = ({ client }: Seated): string => client.userId;

/** Expects that every member sees the same room, with exactly these members, all present. */
async function expectRoom(members: readonly Seated[]): Promise<void> {
  const views = await Promise.all(members.map(({ client }) => client.must('room:get')));
  for (const { room } of views) {
    expect(room.members.map(({ userId }) => userId as string)).toEqual(members.map(idOf));
    expect(room.members.every(({ state }) => state === 'present')).toBe(true);
    expect(room).toEqual(views[0]?.room);
  }
}

/** Expects that the revisions of the events are consecutive. */
function expectGapFree({ client }: Seated): void {
  const revs = client.heard.flatMap(({ name, body }) => (name !== 'room:rev' && 'rev' in body ? [body.rev] : []));
  // Events of two nodes may overtake each other: the revision gives the order.
  const inOrder = revs.toSorted((a, b) => a - b);
  expect(inOrder).toEqual(inOrder.map((_, index) => (inOrder[0] ?? 0) + index));
}

async function disposeAll(seated: readonly Seated[]): Promise<void> {
  await Promise.all(seated.map(({ client }) => client.ask('room:leave').catch(() => undefined)));
  for (const { client } of seated) client.socket.disconnect();
}

describe('three nodes, thirty members', () => {
  test('SIGTERM: clients receive server:drain and resume on another node without a left, and the node exits with 0', async () => {
    await using fleet = await start();
    const seated = await seatAll(fleet);
    const { child } = fleet.node(2);
    const going = seated.filter(({ node }) => node === 2);
    const staying = seated.filter(({ node }) => node !== 2);
    const from = performance.now();
    const exit = child.stop();
    await Promise.all(
      going.map(async (member) => {
        const { reconnectInMs } = await member.client.next('server:drain');
        expect(reconnectInMs).toBeLessThan(DRAIN_MS);
        await resumeOn(fleet, member, member.room % 2);
      }),
    );
    expect(await exit).toEqual({ code: 0, signal: null });
    expect(performance.now() - from).toBeLessThan(DRAIN_MS + 5000);
    for (let room = 0; room < ROOMS; room += 1) await expectRoom(seated.filter((member) => member.room === room));
    for (const member of staying) {
      expect(leftIds(member)).toEqual([]);
      expectGapFree(member);
    }
    expect(await fleet.audit()).toMatchObject({ occupied: ROOMS, seats: 30, disagreements: [] });
    await disposeAll(seated);
  });

  test('kill -9: a returning member keeps its seat without a left, and each other member leaves exactly once', async () => {
    await using fleet = await start();
    const seated = await seatAll(fleet);
    const hit = seated.filter(({ node }) => node === 0);
    const staying = seated.filter(({ node }) => node !== 0);
    const returning = hit.filter((_, index) => index % 3 !== 0);
    const gone = hit.filter((member) => !returning.includes(member));
    const from = performance.now();
    await fleet.node(0).child.kill();
    await Promise.all(returning.map((member) => resumeOn(fleet, member, 1)));
    expect(performance.now() - from).toBeLessThan(TTL_MS);
    for (const lost of gone) {
      const witnesses = staying.filter(({ room }) => room === lost.room);
      const lefts = await Promise.all(
        witnesses.map(({ client }) => client.next('member:left', ({ userId }) => userId === idOf(lost))),
      );
      for (const { reason } of lefts) expect(reason).toBe('lost');
    }
    const took = performance.now() - from;
    expect(took).toBeGreaterThan(TTL_MS - 2 * TICK_MS);
    expect(took).toBeLessThan(LATEST_LEFT_MS);
    const kept = seated.filter((member) => !gone.includes(member));
    for (let room = 0; room < ROOMS; room += 1) await expectRoom(kept.filter((member) => member.room === room));
    for (const member of staying) {
      const mine = gone.filter(({ room }) => room === member.room).map(idOf);
      expect(leftIds(member).sort()).toEqual(mine.sort());
      expectGapFree(member);
    }
    const books = await fleet.audit();
    expect(books).toMatchObject({ occupied: ROOMS, cooling: 0, seats: kept.length, disagreements: [] });
    const { free, occupied, cooling, total } = await fleet.pool(1);
    expect({ occupied, cooling }).toEqual({ occupied: books.occupied, cooling: books.cooling });
    expect(free + occupied + cooling).toBe(total);
    await disposeAll(seated.filter((member) => kept.includes(member)));
    await eventually(async () => (await fleet.audit()).seats === 0);
    expect((await fleet.audit()).disagreements).toEqual([]);
  });
});
