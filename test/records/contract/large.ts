/** Many calls, and calls with many participants: pages are small and fast, and other work gets turns in between. */
import { expect, test } from 'vitest';
import type { Database, Dialect, Queries } from '../../../src/database/database.ts';
import type { Call } from '../../../src/records/port.ts';
import { exportCalls, findCall, listCalls } from '../../../src/records/read.ts';
import type { CallRow, ParticipantRow } from '../../../src/records/rows.ts';
import { saveChanges } from '../../../src/records/write.ts';
import type { DatabaseHarness } from '../../database/harness.ts';
import { refOf } from '../../room/fixtures.ts';
import { retry } from '../../support/retry.ts';

const BEGAN = 1_800_000_000_000;
const MAX = 2_000;

export function large(harness: DatabaseHarness): void {
  test('a page of the calls of one user is read from an index, however many there are', async () => {
    const database = await harness.fresh();
    await fill(
      database,
      Array.from({ length: 3_000 }, (_, index) => (index % 1_000 === 0 ? ['anna', 'zoe'] : ['anna', 'anna'])),
    );
    if (database.dialect !== 'mysql') await retry(() => database.run('ANALYZE'));
    const plans: string[] = [];
    const explained: Pick<Queries, 'rows'> = {
      async rows(sql, values) {
        plans.push(JSON.stringify(await database.rows(`${EXPLAIN[database.dialect]} ${sql}`, values)));
        return database.rows(sql, values);
      },
    };
    for (const [user, count] of [
      ['anna', 200],
      ['zoe', 3],
    ] as const) {
      plans.length = 0;
      const { calls, cursor } = await listCalls(explained, { limit: 200, user });
      expect(calls).toHaveLength(count);
      expect(plans[0]).toContain('signalbox_participants_by_call');
      expect(cursor === null).toBe(user === 'zoe');
      if (cursor === null) continue;
      const next = await listCalls(explained, { limit: 200, user, cursor });
      expect(next.calls[0]?.ref).toBe(refOf(2_800));
      expect(plans[2]).toContain('signalbox_participants_by_call');
    }
  });

  test('a page ends early when its calls have many participants, and a call with more than a page is alone', async () => {
    const database = await harness.fresh();
    const sizes = [900, 0, 900, 900, 2 * MAX + 1, 3, 1];
    await fill(
      database,
      sizes.map((size, call) => Array.from({ length: size }, (_, index) => `u-${call}-${index}`)),
    );
    const pages: number[][] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page = await listCalls(database, { limit: 10, cursor });
      pages.push(page.calls.map(({ participants }) => participants.length));
      ({ cursor } = page);
    }
    expect(pages).toEqual([[1, 3], [2 * MAX + 1], [900, 900, 0], [900]]);
    expect((await findCall(database, refOf(5)))?.participants.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 2 * MAX + 1 }, (_, index) => index + 1),
    );

    using others = startTurns();
    const exported = new Map<string, Call>();
    let seen = -1;
    let open: string | undefined;
    for await (const { calls, more } of exportCalls(database, {})) {
      expect(others.turns).toBeGreaterThan(seen);
      seen = others.turns;
      expect(calls.reduce((sum, { participants }) => sum + participants.length, 0)).toBeLessThanOrEqual(MAX);
      for (const call of calls) {
        expect(exported.has(call.ref)).toBe(call.ref === open);
        const earlier = exported.get(call.ref)?.participants ?? [];
        exported.set(call.ref, { ...call, participants: [...earlier, ...call.participants] });
      }
      open = more ? calls.at(-1)?.ref : undefined;
    }
    expect([...exported.keys()]).toEqual([7, 6, 5, 4, 3, 2, 1].map(refOf));
    for (const [ref, call] of exported) expect(call).toEqual(await findCall(database, ref));
  });
}

const EXPLAIN: Readonly<Record<Dialect, string>> = {
  sqlite: 'EXPLAIN QUERY PLAN',
  postgres: 'EXPLAIN',
  mysql: 'EXPLAIN',
};

/** Other work: counts its turns of the event loop, while the records do not block the process. */
function startTurns() {
  let isOver = false;
  const others = {
    turns: 0,
    [Symbol.dispose]() {
      isOver = true;
    },
  };
  const turn = (): void => {
    others.turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return others;
}

/** Records calls of these users, one per second. */
async function fill(database: Database, calls: readonly (readonly string[])[]): Promise<void> {
  const rows = calls.map((users, index) => callOf(index + 1, users.length));
  const participants = calls.flatMap((users, index) =>
    users.map((userId, at) => participantOf(index + 1, at + 1, userId)),
  );
  const changes = {
    calls: new Map(rows.map((call) => [call.ref, call])),
    participants: new Map(participants.map((one) => [`${one.ref} ${one.seq}`, one])),
    abandoned: [],
    recreated: [],
  };
  // A busy machine may miss the time limit of a call: saving again changes nothing.
  await retry(() => database.transaction((queries) => saveChanges(queries, database, changes)));
}

const callOf = (number: number, users: number): CallRow => ({
  ref: refOf(number),
  code: String(100_000 + number),
  type: 'call',
  name: null,
  createdAt: BEGAN + number * 1_000,
  expiresAt: BEGAN,
  endedAt: BEGAN,
  reason: 'closed',
  hostId: null,
  createdBy: null,
  members: 0,
  peakMembers: users,
  totalMembers: users,
  complete: true,
  rev: 1,
  lastAt: BEGAN,
  feed: 'memory',
});

const participantOf = (number: number, seq: number, userId: string): ParticipantRow => ({
  ref: refOf(number),
  userId,
  name: null,
  seq,
  joinedAt: BEGAN,
  leftAt: BEGAN,
  reason: 'left',
  mediaType: null,
  calledAt: BEGAN + number * 1_000,
});
