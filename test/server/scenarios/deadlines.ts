/** Rooms end at their deadlines: empty, idle, too old. The options make empty the shortest and age the longest. */
import { expect, vi } from 'vitest';
import { connectClient } from '../../support/client.ts';
import type { Nodes } from '../../support/nodes.ts';
import { joinedPair, storedRoom } from './members.ts';
import type { Scenario } from './run-scenarios.ts';

/** How long after its deadline a room may end: a tick, and the delays of a busy machine. */
const PATIENCE_MS = 30_000;

const optionsOf = ({ servers: [server] }: Nodes) => server?.options ?? expect.unreachable();

export const deadlines: Readonly<Record<string, Scenario>> = {
  async 'an empty room ends at its deadline and not before'(nodes) {
    await using ann = await connectClient(nodes.url(0));
    const { room } = await ann.must('room:create');
    const began = performance.now();
    await ann.must('room:leave');
    expect((await storedRoom(nodes, room)).members).toEqual([]);
    await vi.waitFor(
      async () => {
        // Looking does not keep a room alive, as joining would.
        const found = await nodes.servers[0]?.engine.apply({ kind: 'read', code: room.code });
        expect(found).toEqual({ ok: false, reason: 'ROOM_NOT_FOUND' });
      },
      { timeout: PATIENCE_MS, interval: 20 },
    );
    expect(performance.now() - began).toBeGreaterThan(optionsOf(nodes).roomEmptyMs - 50);
    expect(await ann.refused('room:join', { code: room.code })).toBe('ROOM_NOT_FOUND');
  },

  async 'a room whose members send no request ends, and its members stay connected'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    for (const client of [ann, ben]) {
      const { code, ref, rev } = room;
      expect(await client.next('room:closed')).toEqual({ code, ref, rev: rev + 1, reason: 'idle' });
      expect(await client.refused('room:get')).toBe('NOT_IN_ROOM');
      expect(await client.refused('room:join', { code })).toBe('ROOM_NOT_FOUND');
      expect(await client.refused('room:join', { code, ref })).toBe('CODE_EXPIRED');
      expect(client.socket.connected).toBe(true);
    }
    expect(ben.all('member:left')).toEqual([]);
  },

  async 'heartbeats keep a room from being idle until it is too old'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    const { roomMaxAgeMs } = optionsOf(nodes);
    // So often that one of them finds the room gone before the news of it is there: the news must come all the same.
    expect(room.expiresAt).toBe(room.createdAt + roomMaxAgeMs);
    await vi.waitFor(
      async () => {
        await ann.must('heartbeat');
        expect(ann.all('room:closed')).toHaveLength(1);
      },
      { timeout: roomMaxAgeMs + PATIENCE_MS, interval: 5 },
    );
    for (const client of [ann, ben]) {
      expect(await client.next('room:closed')).toMatchObject({ rev: room.rev + 1, reason: 'aged' });
    }
  },
};
