/**
 * Redis carries a command out and its answer is late: the client is told `STORE_UNAVAILABLE`, and what was done all the same
 * must not stay. Leases are long here, so no tick ends it.
 */
import { describe, expect, test, vi } from 'vitest';
import type { Acknowledgement, RequestName, RequestPayload } from '../../../src/protocol/events.ts';
import type { PartialOptions } from '../../../src/server/options/options.ts';
import { connectClient, TestClient } from '../../support/client.ts';
import type { TcpProxy } from '../../support/proxy.ts';
import { freezeAfter } from '../late-answers.ts';
import { storedRoom, tokenOf } from '../scenarios/members.ts';
import { startSlowLinkNodes } from '../slow-link-nodes.ts';

/** Ann has a room on the first node; the line of the second fails. */
async function stage(options: PartialOptions = {}) {
  const nodes = await startSlowLinkNodes(2, 0, options);
  const [, link = expect.unreachable()] = nodes.links;
  const [ann, ben] = [await connectClient(nodes.url(0)), await connectClient(nodes.url(1))];
  const { room } = await ann.must('room:create', { maxUsers: 10 });
  const membersAre = (...clients: TestClient[]) =>
    vi.waitFor(async () => {
      const { members } = await storedRoom(nodes, room);
      expect(members.map(({ userId, state }) => [userId, state])).toEqual(
        clients.map(({ userId }) => [userId, 'present']),
      );
    });
  return {
    nodes,
    link,
    ann,
    ben,
    room,
    membersAre,
    async [Symbol.asyncDispose]() {
      link.thaw();
      for (const client of [ann, ben]) client.socket.disconnect();
      await nodes[Symbol.asyncDispose]();
    },
  };
}

type Stage = Awaited<ReturnType<typeof stage>>;

/** The request is refused, and has been carried out. The line is well again afterwards. */
async function answeredLate<Name extends 'room:join' | 'room:create'>(
  { link, ben }: Stage,
  name: Name,
  payload: RequestPayload<Name>,
): Promise<void> {
  const frozen = freezeAfter(link, name === 'room:join' ? 'join' : 'create');
  const asked = ben.ask(name, payload);
  await frozen;
  expect(await asked).toMatchObject({ ok: false, error: { code: 'STORE_UNAVAILABLE', retryable: true } });
}

/** Repeats a request for as long as the store is away. */
function granted<Name extends RequestName>(
  client: TestClient,
  name: Name,
  payload: RequestPayload<Name>,
): Promise<Extract<Acknowledgement<Name>, { ok: true }>> {
  return vi.waitFor(async () => {
    const reply = await client.ask(name, payload);
    if (!reply.ok) throw new Error(reply.error.code);
    return reply as Extract<typeof reply, { ok: true }>;
  });
}

const occupied = ({ nodes }: Stage, count: number): Promise<void> =>
  vi.waitFor(async () => expect(await nodes.servers[0]?.pool()).toMatchObject({ occupied: count }));

/** How the line of the node fails when the connection of its client does. */
const FAILURES: Record<string, (link: TcpProxy) => void> = {
  'does not answer': (link) => link.freeze(),
  'is unreachable': (link) => link.cut(),
};

// Side by side: each waits for a deadline.
describe.concurrent('after an answer that was late', () => {
  test('a leave after a late join is refused while the store is away, and then gives the seat back', async () => {
    await using on = await stage();
    await answeredLate(on, 'room:join', { code: on.room.code });
    expect(await on.ben.refused('room:leave')).toBe('STORE_UNAVAILABLE');
    on.link.thaw();
    await granted(on.ben, 'room:leave', {});
    await on.membersAre(on.ann);
    expect(await on.ann.next('member:left')).toMatchObject({ userId: on.ben.userId, reason: 'left' });
  });

  test('the seat of a late join is given back while its client stays connected and asks for nothing', async () => {
    await using on = await stage();
    await answeredLate(on, 'room:join', { code: on.room.code });
    on.link.thaw();
    await on.membersAre(on.ann, on.ben);
    await on.membersAre(on.ann);
  });

  test('a join that is asked for again finds the seat of the late one, and nobody hears that it left', async () => {
    await using on = await stage({ closeOnHostLeave: true });
    await answeredLate(on, 'room:join', { code: on.room.code });
    on.link.thaw();
    const { room } = await granted(on.ben, 'room:join', { code: on.room.code });
    expect(room.members.map(({ userId }) => userId)).toEqual([on.ann.userId, on.ben.userId]);
    // A second join would have raised the revision.
    expect(room.rev).toBe(2);
    await on.ben.must('message', { data: 'here' });
    await on.ann.next('message');
    expect(on.ann.all('member:left')).toEqual([]);
  });

  test('a join of another room gives the seat of a late one back first', async () => {
    await using on = await stage();
    await using cat = await connectClient(on.nodes.url(0));
    const other = (await cat.must('room:create')).room;
    await answeredLate(on, 'room:join', { code: on.room.code });
    on.link.thaw();
    await granted(on.ben, 'room:join', { code: other.code });
    expect((await storedRoom(on.nodes, on.room)).members.map(({ userId }) => userId)).toEqual([on.ann.userId]);
  });

  test.each(['before', 'after'] as const)(
    'a connection that ends %s the store is back leaves no seat of a late join',
    async (order) => {
      await using on = await stage();
      await answeredLate(on, 'room:join', { code: on.room.code });
      if (order === 'after') on.link.thaw();
      on.ben.socket.disconnect();
      if (order === 'before') on.link.thaw();
      await on.membersAre(on.ann);
    },
  );

  test('the seat in the room that was left for another is given back when the leave was answered late', async () => {
    await using on = await stage();
    const first = (await on.ben.must('room:create', { name: 'first' })).room;
    const frozen = freezeAfter(on.link, 'leave');
    const asked = on.ben.ask('room:join', { code: on.room.code });
    await frozen;
    expect((await asked).ok).toBe(true);
    on.link.thaw();
    await vi.waitFor(async () => expect((await storedRoom(on.nodes, first)).members).toEqual([]));
    await on.membersAre(on.ann, on.ben);
  });

  test('the code of a late create is used again, whether its client asks once more or goes', async () => {
    await using on = await stage();
    await answeredLate(on, 'room:create', {});
    on.link.thaw();
    await occupied(on, 2);
    await granted(on.ben, 'room:create', {});
    // Ann's, and the second of Ben.
    await occupied(on, 2);
    await answeredLate(on, 'room:create', {});
    on.ben.socket.disconnect();
    on.link.thaw();
    // Ben's first, empty or away, and Ann's.
    await occupied(on, 2);
  });

  test('a late create with a key is found by the client that asks again with it', async () => {
    await using on = await stage();
    await answeredLate(on, 'room:create', { idempotencyKey: 'once' });
    on.link.thaw();
    const { room } = await granted(on.ben, 'room:create', { idempotencyKey: 'once' });
    expect(room.members.map(({ userId }) => userId)).toEqual([on.ben.userId]);
    await occupied(on, 2);
  });

  test('a late create in another shard than its repetition leaves neither a seat nor a code', async () => {
    const adminToken = 'the-operator-of-these-tests';
    // One code in each shard.
    await using on = await stage({ adminToken, poolSize: 100, codeCooldownMs: 1 });
    const { ben, link, nodes } = on;
    const api = (method: string, path: string, body?: string) =>
      fetch(`${nodes.url(0)}/v1/rooms${path}`, {
        method,
        headers: { authorization: `Bearer ${adminToken}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body }),
      });
    const codes: string[] = [on.room.code];
    for (let made = 1; made < 100; made += 1) codes.push((await (await api('POST', '', '{}')).json()).code);
    // The shard in which a create with this key begins.
    let begins = '';
    const stop = link.onUp((chunk) => {
      begins ||= /"shard":(\d+)/.exec(chunk.toString().split('"candidates"')[1] ?? '')?.[1] ?? '';
    });
    expect(await ben.refused('room:create', { idempotencyKey: 'once' })).toBe('POOL_EXHAUSTED');
    stop();
    const [own] = codes.filter((code) => Number(code) % 100 === Number(begins));
    const [other] = codes.filter((code) => code !== own);

    await api('DELETE', `/${other}`);
    const frozen = freezeAfter(link, 'create', 2);
    const asked = ben.ask('room:create', { idempotencyKey: 'once' });
    await frozen;
    expect(await asked).toMatchObject({ ok: false, error: { code: 'STORE_UNAVAILABLE' } });
    link.thaw();
    await occupied(on, 100);
    await api('DELETE', `/${own}`);
    const { room } = await granted(ben, 'room:create', { idempotencyKey: 'once' });
    expect(room.code).toBe(own);
    await occupied(on, 99);
  });

  test('the code of a late create of a back end is used again', async () => {
    await using on = await stage({ adminToken: 'the-operator-of-these-tests' });
    const frozen = freezeAfter(on.link, 'create');
    const headers = { authorization: 'Bearer the-operator-of-these-tests', 'content-type': 'application/json' };
    const asked = fetch(`${on.nodes.url(1)}/v1/rooms`, { method: 'POST', headers, body: '{}' });
    await frozen;
    expect((await asked).status).toBe(503);
    on.link.thaw();
    await occupied(on, 1);
  });

  test('a seat whose resume was answered late is away when its client does not come back', async () => {
    await using on = await stage();
    await on.ben.must('room:join', { code: on.room.code });
    on.ben.cut();
    await on.ann.next('member:away');
    const frozen = freezeAfter(on.link, 'resume');
    await using back = new TestClient(on.nodes.url(1), { resume: tokenOf(on.ben) });
    const dropped = back.closed();
    await frozen;
    await vi.waitFor(async () => expect((await storedRoom(on.nodes, on.room)).members[1]?.state).toBe('present'));
    await dropped;
    expect(back.heard).toEqual([]);
    on.link.thaw();
    await vi.waitFor(async () => expect((await storedRoom(on.nodes, on.room)).members[1]?.state).toBe('away'));
  });

  test('the profile that a member joins its next room with is the one that the others see, though its answer was late', async () => {
    await using on = await stage();
    await on.ben.must('room:join', { code: on.room.code, profile: { name: 'Ben' } });
    const frozen = freezeAfter(on.link, 'update');
    const asked = on.ben.ask('profile', { name: 'Benjamin' });
    await frozen;
    expect(await asked).toMatchObject({ ok: false, error: { code: 'STORE_UNAVAILABLE' } });
    on.link.thaw();
    const { room } = await granted(on.ben, 'room:create', {});
    expect(room.members.map(({ name }) => name)).toEqual(['Benjamin']);
  });

  test.each(Object.entries(FAILURES))(
    'a connection that is lost while the store %s is away once the store is back',
    async (_, fail) => {
      // The event may be lost too, while messages do not pass again yet: then a tick tells the revision.
      await using on = await stage({ userTtlMs: 600_000, tickMs: 1000 });
      await on.ben.must('room:join', { code: on.room.code });
      fail(on.link);
      on.ben.cut();
      // Refused, or out of time: the node has noticed.
      await vi.waitFor(async () => expect((await fetch(`${on.nodes.url(1)}/readyz`)).status).toBe(503));
      on.link.heal();
      on.link.thaw();
      const away = await vi.waitFor(async () => {
        const { room } = await on.ann.must('room:get');
        expect(room.members[1]).toMatchObject({ userId: on.ben.userId, state: 'away' });
        return room.rev;
      });
      await vi.waitFor(() => {
        const revs = [...on.ann.all('member:away'), ...on.ann.all('room:rev')].map(({ rev }) => rev);
        expect(revs).toContain(away);
      });
      // Its record says so too: the next session of the user replaces none.
      await vi.waitFor(async () => {
        const outcome = await on.nodes.servers[0]?.engine.apply({
          kind: 'arrive',
          userId: on.ben.userId,
          nodeId: on.nodes.servers[0].nodeId,
        });
        expect(outcome?.previous?.online ?? false).toBe(false);
      });
    },
  );
});
