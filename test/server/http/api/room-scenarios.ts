/** Rooms through the API: the operations of a back end, and the events for members on the same node or another. */
import { expect } from 'vitest';
import type { RoomSnapshot } from '../../../../src/protocol/snapshot.ts';
import type { ListedRoom } from '../../../../src/room/outcomes.ts';
import { connectClient } from '../../../support/client.ts';
import type { Nodes } from '../../../support/nodes.ts';
import type { Scenario } from '../../scenarios/run-scenarios.ts';
import { createApiClient, createRoom } from './api-client.ts';

const EVERYTHING = {
  name: 'Dr. Ada 🚂 — “room”',
  type: 'consultation',
  maxUsers: 3,
  access: 'open',
  metadata: { deep: [1, [2, { three: null }], 'four', 0.1, -1e21, ''], 'a b': false, empty: {}, none: [] },
};

export const rooms: Readonly<Record<string, Scenario>> = {
  async 'a room has the settings and the exact metadata of its creation on every node'(nodes) {
    const [here, there] = [createApiClient(nodes.url(0)), createApiClient(nodes.url(1))];
    const response = await here.request('POST', '/rooms', EVERYTHING);
    const room = response.body as RoomSnapshot; // compared below
    expect(response.status).toBe(201);
    expect(response.headers.get('location')).toBe(`/v1/rooms/${room.code}`);
    const { createdAt } = room;
    expect(room).toEqual({
      ...EVERYTHING,
      code: expect.stringMatching(/^[1-9]\d{5}$/),
      ref: expect.stringMatching(/^ROM\d+$/),
      rev: 0,
      locked: false,
      hostId: null,
      createdAt,
      expiresAt: createdAt + 24 * 3_600_000,
      members: [],
    });
    expect(await there.expectStatus(200, 'GET', `/rooms/${room.code}`)).toEqual(room);
    expect(await there.expectStatus(200, 'GET', `/rooms/${room.code}?ref=${room.ref}`)).toEqual(room);

    await using ann = await connectClient(nodes.url(1), { name: 'Ann' });
    const joined = await ann.must('room:join', {
      code: room.code,
      profile: { mediaType: 'video', metadata: [{ a: 1 }] },
    });
    expect(joined.room).toMatchObject({ hostId: ann.userId, metadata: EVERYTHING.metadata });
    expect(await here.expectStatus(200, 'GET', `/rooms/${room.code}`)).toEqual(joined.room);
    await here.expectStatus(204, 'DELETE', `/rooms/${room.code}`);
  },

  async 'a room that is created without settings has the defaults'(nodes) {
    const api = createApiClient(nodes.url(0));
    expect(await createRoom(api)).toMatchObject({ name: null, type: 'call', maxUsers: 8, access: 'open' });
    const { status } = await api.request('POST', '/rooms');
    expect(status).toBe(201);
  },

  async 'an idempotency key returns the same room to the same token, on every node and concurrently'(nodes) {
    const clients = [0, 1, 0, 1].map((node) => createApiClient(nodes.url(node)));
    const key = { 'idempotency-key': 'appointment-1' };
    const responses = await Promise.all(
      clients.map((client) => client.request('POST', '/rooms', { name: 'once' }, key)),
    );
    expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 200, 200, 201]);
    for (const { body } of responses) expect(body).toEqual(responses[0]?.body);
    const { code, ref } = (responses[0] ?? expect.unreachable()).body as RoomSnapshot; // one of them is the 201

    const other = createApiClient(nodes.url(0), 'another-token-of-these-tests');
    const theirs = await other.expectStatus<RoomSnapshot>(201, 'POST', '/rooms', {}, key);
    expect(theirs.ref).not.toBe(ref);

    await other.expectStatus(204, 'DELETE', `/rooms/${code}?ref=${ref}`);
    const [first = other] = clients;
    expect(await first.refused('POST', '/rooms', {}, key)).toBe('409 CODE_EXPIRED');
  },

  async 'members receive an event for a change and for the end of the room'(nodes) {
    const api = createApiClient(nodes.url(0));
    const { code, ref } = await createRoom(api);
    await using ann = await connectClient(nodes.url(0));
    await using ben = await connectClient(nodes.url(1));
    for (const one of [ann, ben]) await one.must('room:join', { code });
    const changed = await api.expectStatus<RoomSnapshot>(200, 'PATCH', `/rooms/${code}`, {
      locked: true,
      metadata: null,
    });
    expect(changed).toMatchObject({ locked: true, metadata: null, hostId: ann.userId });
    for (const one of [ann, ben]) {
      expect(await one.next('room:updated')).toMatchObject({
        ref,
        rev: changed.rev,
        room: { locked: true, metadata: null },
      });
    }
    await using cat = await connectClient(nodes.url(1));
    expect(await cat.refused('room:join', { code })).toBe('ROOM_LOCKED');

    await api.expectStatus(204, 'DELETE', `/rooms/${code}`);
    for (const one of [ann, ben]) expect(await one.next('room:closed')).toMatchObject({ ref, reason: 'closed' });
    expect(await ben.refused('message', { data: 1 })).toBe('NOT_IN_ROOM');
    for (const method of ['GET', 'DELETE'])
      expect(await api.refused(method, `/rooms/${code}`)).toBe('404 ROOM_NOT_FOUND');
    expect(await api.refused('PATCH', `/rooms/${code}`, {})).toBe('404 ROOM_NOT_FOUND');
  },

  async 'kick: the member is disconnected, a ban is announced, and the next member becomes the host'(nodes) {
    const api = createApiClient(nodes.url(0));
    const { code } = await createRoom(api);
    await using ann = await connectClient(nodes.url(1));
    await using ben = await connectClient(nodes.url(0));
    await using cat = await connectClient(nodes.url(1));
    for (const one of [ann, ben, cat]) await one.must('room:join', { code });

    const outAnn = ann.closed();
    await api.expectStatus(204, 'DELETE', `/rooms/${code}/members/${ann.userId}`);
    expect(await ann.next('session:kicked')).toMatchObject({ code, banned: false });
    await outAnn;
    expect(await cat.next('member:left')).toMatchObject({ userId: ann.userId, reason: 'kicked' });
    expect(await cat.next('host:changed')).toMatchObject({ hostId: ben.userId });

    await api.expectStatus(204, 'DELETE', `/rooms/${code}/members/${ben.userId}?ban=true`);
    expect(await ben.next('session:kicked')).toMatchObject({ code, banned: true });
    expect(await api.refused('DELETE', `/rooms/${code}/members/${ben.userId}`)).toBe('404 PEER_NOT_FOUND');
    const room = await api.expectStatus<RoomSnapshot>(200, 'GET', `/rooms/${code}`);
    expect(room).toMatchObject({ hostId: cat.userId, members: [{ userId: cat.userId, role: 'host' }] });
  },

  async 'a message from the server reaches exactly the members of the room, in order'(nodes) {
    const [here, there] = [createApiClient(nodes.url(0)), createApiClient(nodes.url(1))];
    const { code, ref } = await createRoom(here);
    expect(await here.expectStatus(202, 'POST', `/rooms/${code}/messages`, { data: 'to nobody' })).toEqual({ ref });
    await using ann = await connectClient(nodes.url(0));
    await using ben = await connectClient(nodes.url(1));
    await using eve = await connectClient(nodes.url(1));
    for (const one of [ann, ben]) await one.must('room:join', { code });
    const elsewhere = await eve.must('room:create');
    for (let n = 0; n < 10; n += 1) {
      const api = n % 2 === 0 ? here : there;
      await api.expectStatus(202, 'POST', `/rooms/${code}/messages`, { data: { n } });
      for (const one of [ann, ben]) expect(await one.next('message')).toEqual({ from: null, data: { n }, ref });
    }
    await here.expectStatus(202, 'POST', `/rooms/${elsewhere.room.code}/messages`, { data: 'barrier' });
    expect(await eve.next('message')).toMatchObject({ from: null, data: 'barrier' });
    expect(eve.all('message')).toHaveLength(1);
  },

  async 'a request with the ref of another room is refused'(nodes) {
    const api = createApiClient(nodes.url(0));
    const { code } = await createRoom(api);
    const other = 'ROM202600000001';
    const requests = [
      ['GET', `/rooms/${code}?ref=${other}`],
      ['PATCH', `/rooms/${code}?ref=${other}`, { locked: true }],
      ['DELETE', `/rooms/${code}?ref=${other}`],
      ['DELETE', `/rooms/${code}/members/somebody?ref=${other}`],
      ['POST', `/rooms/${code}/messages?ref=${other}`, { data: 1 }],
    ] as const;
    for (const [method, path, body] of requests) expect(await api.refused(method, path, body)).toBe('409 CODE_EXPIRED');
    expect(await api.expectStatus(200, 'GET', `/rooms/${code}`)).toMatchObject({ locked: false });
  },

  async 'the list contains every room once, with any page size and any filter'(nodes) {
    const api = createApiClient(nodes.url(1));
    await closeAll(nodes);
    const made: RoomSnapshot[] = [];
    for (let n = 0; n < 45; n += 1) made.push(await createRoom(api, { type: n % 3 === 0 ? 'third' : 'other' }));
    const [first, second] = made;
    if (first === undefined || second === undefined) return expect.unreachable();
    await api.expectStatus(200, 'PATCH', `/rooms/${first.code}`, { locked: true });
    await using ann = await connectClient(nodes.url(0));
    await ann.must('room:join', { code: second.code });

    const codes = (some: readonly { readonly code: string }[]) => some.map(({ code }) => code).sort();
    for (const limit of [1, 7, 45, 100]) expect(codes(await all(nodes, `limit=${limit}`))).toEqual(codes(made));
    expect(await all(nodes, 'type=third')).toHaveLength(15);
    expect(codes(await all(nodes, 'locked=true'))).toEqual([first.code]);
    expect(await all(nodes, 'locked=false&type=third&limit=4')).toHaveLength(14);
    expect(await all(nodes, 'empty=false')).toMatchObject([{ code: second.code, memberCount: 1, hostId: ann.userId }]);
    expect(await all(nodes, 'empty=true&limit=10')).toHaveLength(44);
    expect(await all(nodes, 'type=nobody&limit=1')).toEqual([]);
    for (const room of await all(nodes, '')) expect(room).not.toHaveProperty('members');
  },
};

/** Reads all pages of the list, each from another node. */
async function all(nodes: Nodes, filter: string): Promise<ListedRoom[]> {
  const found: ListedRoom[] = [];
  let cursor: string | null = null;
  let node = 0;
  do {
    const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const path = `/rooms?${filter}${more}`;
    const page = await createApiClient(nodes.url(node)).expectStatus<{ rooms: ListedRoom[]; cursor: string | null }>(
      200,
      'GET',
      path,
    );
    found.push(...page.rooms);
    cursor = page.cursor;
    node += 1;
  } while (cursor !== null);
  return found;
}

async function closeAll(nodes: Nodes): Promise<void> {
  const api = createApiClient(nodes.url(0));
  for (const { code } of await all(nodes, '')) await api.expectStatus(204, 'DELETE', `/rooms/${code}`);
}
