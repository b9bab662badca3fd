/** Reads of one room that are asked for at the same time cost two commands, and nobody is answered from before its question. */
import { expect, test } from 'vitest';
import type { RoomRef, UserId } from '../../src/protocol/ids.ts';
import type { RoomSnapshot } from '../../src/protocol/snapshot.ts';
import type { Outcome, Read } from '../../src/room/commands.ts';
import { RoomReads } from '../../src/server/room-reads.ts';
import { code, refOf } from '../room/fixtures.ts';

const CODE = code('482913');
const REF = refOf(1);
const room = { code: CODE, ref: REF };
const UNCHANGED = { ok: false, reason: 'UNCHANGED' };
const user = (name: string) => name as UserId;

/** A store whose answers come when they are told to. */
function slowStore() {
  const commands: Read[] = [];
  const answers: { resolve(outcome: Outcome<Read>): void; reject(error: Error): void }[] = [];
  const reads = new RoomReads((command) => {
    commands.push(command);
    return new Promise((resolve, reject) => {
      answers.push({ resolve, reject });
    });
  });
  const begun = (count: number) => expect.poll(() => commands.length).toBe(count);
  return { commands, answers, reads, begun };
}

const found = (rev: number, ...members: string[]): Outcome<Read> =>
  // As much of a room as is looked at.
  ({ ok: true, room: { ...room, rev, members: members.map((userId) => ({ userId })) } as unknown as RoomSnapshot });

test('whoever asks while a read is under way is answered by the next one', async () => {
  const { commands, answers, reads, begun } = slowStore();
  const first = reads.read(room);
  const others = Array.from({ length: 99 }, () => reads.read(room));
  expect(commands).toHaveLength(1);
  answers[0]?.resolve(found(1, 'ann'));
  expect(await first).toEqual(found(1, 'ann'));
  await begun(2);
  answers[1]?.resolve(found(2, 'ann'));
  for (const outcome of await Promise.all(others)) expect(outcome).toEqual(found(2, 'ann'));
  expect(commands).toEqual(Array.from({ length: 2 }, () => ({ kind: 'read', ...room })));
});

test('rooms do not wait for each other, and a room with a ref is not the one that has its code now', () => {
  const { commands, reads } = slowStore();
  void reads.read(room);
  void reads.read({ code: CODE });
  void reads.read({ code: CODE, ref: 'r-2' as RoomRef });
  void reads.read({ code: code('111111') });
  expect(commands).toHaveLength(4);
});

test('the store is told a revision if all who ask have that one, and the members among them', async () => {
  const { commands, answers, reads, begun } = slowStore();
  void reads.read(room);
  const same = ['ann', 'ben', 'ann'].map((name) => reads.readSince(room, { rev: 3, userId: user(name) }));
  answers[0]?.resolve(found(3, 'ann', 'ben'));
  await begun(2);
  expect(commands[1]).toEqual({ kind: 'read', ...room, known: { rev: 3, members: ['ann', 'ben'] } });
  answers[1]?.resolve({ ok: false, reason: 'UNCHANGED' });
  expect(await Promise.all(same)).toEqual([UNCHANGED, UNCHANGED, UNCHANGED]);
});

test('when somebody needs the room it is read, and the others are told that theirs is unchanged', async () => {
  const { commands, answers, reads, begun } = slowStore();
  void reads.read(room);
  const current = reads.readSince(room, { rev: 3, userId: user('ann') });
  const behind = reads.readSince(room, { rev: 2, userId: user('ben') });
  const removed = reads.readSince(room, { rev: 3, userId: user('cat') });
  const outside = reads.readSince(room, { rev: 3 });
  const whole = reads.read(room);
  answers[0]?.resolve(found(3, 'ann', 'ben'));
  await begun(2);
  expect(commands[1]).toEqual({ kind: 'read', ...room });
  const now = found(3, 'ann', 'ben');
  answers[1]?.resolve(now);
  expect(await Promise.all([current, behind, removed, outside, whole])).toEqual([UNCHANGED, now, now, UNCHANGED, now]);
});

test('a read that fails fails for those who shared it, and the next one begins', async () => {
  const { answers, reads, begun } = slowStore();
  const failing = reads.read(room);
  const next = reads.read(room);
  answers[0]?.reject(new Error('away'));
  await expect(failing).rejects.toThrow('away');
  await begun(2);
  answers[1]?.resolve(found(1, 'ann'));
  expect(await next).toEqual(found(1, 'ann'));
  const after = reads.read(room);
  await begun(3);
  answers[2]?.resolve(found(2, 'ann'));
  expect(await after).toEqual(found(2, 'ann'));
});
