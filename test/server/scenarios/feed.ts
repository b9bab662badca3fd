/** The feed of room events for back ends. */
import { expect, vi } from 'vitest';
import type { FeedEvent } from '../../../src/protocol/feed.ts';
import { connectClient } from '../../support/client.ts';
import type { Nodes } from '../../support/nodes.ts';
import { tokenOf, welcomeOf } from './members.ts';
import type { Scenario } from './run-scenarios.ts';

/** The events of a room, after a check that every node reads the same. */
async function feedOf(nodes: Nodes, ref: string): Promise<readonly FeedEvent[]> {
  const pages = await Promise.all(nodes.servers.map(({ engine }) => engine.feed.read({ limit: 100_000 })));
  const all = pages.map(({ events }) => events.filter((event) => event.ref === ref));
  for (const other of all) expect(other).toEqual(all[0]);
  return all[0] ?? [];
}

const inWords = (events: readonly FeedEvent[]) =>
  events.map(({ rev, type, userId }) => `${rev} ${type} ${userId ?? '-'}`);

export const feed: Readonly<Record<string, Scenario>> = {
  async 'the feed has each revision of a room once, from its creation to its end'(nodes) {
    const ann = await connectClient(nodes.url(0), { name: 'Ann' });
    const ben = await connectClient(nodes.url(1));
    const { room } = await ann.must('room:create', { metadata: { of: 'the feed' } });
    await ben.must('room:join', { code: room.code, profile: { mediaType: 'audio' } });
    await ben.must('profile', { name: 'Ben' });
    await ann.must('room:update', { locked: true });
    const token = tokenOf(ben);
    ben.socket.disconnect();
    await ann.next('member:away');
    const back = await connectClient(nodes.url(0), { resume: token });
    expect(welcomeOf(back).room?.ref).toBe(room.ref);
    await ann.must('room:kick', { userId: ben.userId });
    await ann.must('room:close');
    const events = await feedOf(nodes, room.ref);
    expect(inWords(events)).toEqual([
      `0 room_created ${ann.userId}`,
      `1 user_joined ${ann.userId}`,
      `2 user_joined ${ben.userId}`,
      `3 user_updated ${ben.userId}`,
      '4 room_updated -',
      `5 user_away ${ben.userId}`,
      `6 user_back ${ben.userId}`,
      `7 user_left ${ben.userId}`,
      `8 user_left ${ann.userId}`,
      '9 room_destroyed -',
    ]);
    const nodeIds = new Set(nodes.servers.map(({ nodeId }) => nodeId as string));
    expect(events.every(({ serverId }) => nodeIds.has(serverId))).toBe(true);
    expect(events[0]).toMatchObject({ room: { metadata: { of: 'the feed' }, rev: 0 } });
    expect(events[2]).toMatchObject({ member: { mediaType: 'audio', role: 'member' } });
    for (const person of [ann, back]) person.socket.disconnect();
  },

  async 'a listener of the feed finds the change committed on every node'(nodes) {
    const checks: Promise<void>[] = [];
    const check = async ({ type, code, ref, rev }: FeedEvent) => {
      if (code === null || type === 'room_destroyed') return;
      for (const { engine } of nodes.servers) {
        const read = await engine.apply({ kind: 'read', code, ref });
        expect(read).toMatchObject({ ok: true });
        if (read.ok) expect(read.room.rev).toBeGreaterThanOrEqual(rev);
      }
    };
    const stops = nodes.servers.map(({ engine }) => engine.feed.listen((event) => checks.push(check(event))));
    const ann = await connectClient(nodes.url(0));
    const refs: string[] = [];
    for (let round = 0; round < 20; round += 1) refs.push((await ann.must('room:create')).room.ref);
    // A room that is left ends later: all of them exist while the checks run.
    await vi.waitFor(() => expect(checks.length).toBeGreaterThan(20));
    await Promise.all(checks);
    for (const stop of stops) stop();
    ann.socket.disconnect();
    expect(new Set(refs).size).toBe(20);
  },
};
