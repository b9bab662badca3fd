/** A notice that a seat is lost can overtake the answer by which its node learns of the seat. It is not forgotten. */
import { expect, test, vi } from 'vitest';
import type { Engine } from '../../../src/engine/engine.ts';
import { createMemoryEngine } from '../../../src/engine/memory.ts';
import type { Command } from '../../../src/room/commands.ts';
import { connectClient, TestClient } from '../../support/client.ts';
import { startMemoryNode } from '../../support/memory-node.ts';
import { tokenOf } from '../scenarios/members.ts';

/** The answers to these commands are held back once they have been carried out. */
interface Line {
  holds: Command['kind'] | undefined;
  /** How many are held. */
  held: number;
  release(): void;
}

function lateEngine(engine: Engine): { engine: Engine; line: Line } {
  let release = (): void => {};
  let released = Promise.resolve();
  const line: Line = { holds: undefined, held: 0, release: () => release() };
  const apply: Engine['apply'] = async (command) => {
    const outcome = await engine.apply(command);
    if (command.kind !== line.holds) return outcome;
    line.holds = undefined;
    line.held += 1;
    released = new Promise((resolve) => {
      release = resolve;
    });
    await released;
    return outcome;
  };
  return { engine: { ...engine, apply }, line };
}

async function stage() {
  let line: Line | undefined;
  const node = await startMemoryNode(
    { adminToken: 'the-operator-of-these-tests' },
    {
      engine: async (settings) => {
        const late = lateEngine(createMemoryEngine(settings));
        line = late.line;
        return late.engine;
      },
    },
  );
  const url = node.url();
  const ann = await connectClient(url);
  const { room } = await ann.must('room:create');
  return {
    url,
    ann,
    room,
    line: line ?? expect.unreachable(),
    async [Symbol.asyncDispose]() {
      ann.socket.disconnect();
      await node[Symbol.asyncDispose]();
    },
  };
}

type Stage = Awaited<ReturnType<typeof stage>>;

const isHeld = ({ line }: Stage) => vi.waitFor(() => expect(line.held).toBe(1));

test.each([true, false])(
  'who is kicked before its join is answered is told so and has no seat (banned: %s)',
  async (ban) => {
    await using on = await stage();
    await using ben = await connectClient(on.url);
    on.line.holds = 'join';
    const joined = ben.socket.emitWithAck('room:join', { code: on.room.code }).catch(() => undefined);
    await isHeld(on);
    await on.ann.must('room:kick', { userId: ben.userId, ban });
    on.line.release();
    expect(await ben.next('session:kicked')).toMatchObject({ ref: on.room.ref, banned: ban });
    await ben.closed();
    await on.ann.must('message', { data: 'for members only' });
    expect(ben.all('message')).toEqual([]);
    void joined;
  },
);

test('a join whose room was closed before it is answered is refused', async () => {
  await using on = await stage();
  await using ben = await connectClient(on.url);
  on.line.holds = 'join';
  const joined = ben.refused('room:join', { code: on.room.code, ref: on.room.ref });
  await isHeld(on);
  await on.ann.must('room:close');
  on.line.release();
  expect(await joined).toBe('CODE_EXPIRED');
  expect(await ben.refused('room:get')).toBe('NOT_IN_ROOM');
  await ben.must('room:create');
});

test('who is banned before its resume is answered is told so and has no seat', async () => {
  await using on = await stage();
  await using ben = await connectClient(on.url);
  await ben.must('room:join', { code: on.room.code });
  ben.cut();
  await on.ann.next('member:away');
  on.line.holds = 'resume';
  await using back = new TestClient(on.url, { resume: tokenOf(ben) });
  await isHeld(on);
  await on.ann.must('room:kick', { userId: ben.userId, ban: true });
  on.line.release();
  expect(await back.next('session:kicked')).toMatchObject({ ref: on.room.ref, banned: true });
  expect(back.heard.map(({ name }) => name)).toEqual(['welcome', 'session:kicked']);
  expect(back.all('welcome')).toMatchObject([{ room: null }]);
});

test('a notice about an earlier seat in the room does not cost the seat that was taken since', async () => {
  await using on = await stage();
  await using ben = await connectClient(on.url);
  on.line.holds = 'join';
  const first = ben.socket.emitWithAck('room:join', { code: on.room.code }).catch(() => undefined);
  await isHeld(on);
  await on.ann.must('room:kick', { userId: ben.userId });
  // Another connection of the user joins, before the first knows that it was kicked: its seat has another session.
  await using again = await connectClient(on.url, { resume: tokenOf(ben) });
  await again.must('room:join', { code: on.room.code });
  on.line.release();
  await first;
  await on.ann.must('signal', { to: again.userId, data: 'still here' });
  expect(await again.next('signal')).toMatchObject({ data: 'still here' });
  expect(again.all('session:kicked')).toEqual([]);
});
