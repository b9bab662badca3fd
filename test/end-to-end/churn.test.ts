/**
 * A thousand rooms on two nodes, while their webhook receiver fails at random and is restarted. In the end it has received
 * every event in order, and the call records equal those events.
 */
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { FeedEvent } from '../../src/protocol/feed.ts';
import type { Call } from '../../src/records/port.ts';
import type { CallJson } from '../../src/server/http/api/call-json.ts';
import { eventsByRef } from '../records/commands.ts';
import { expectedCall } from '../records/expected-call.ts';
import { connectClient } from '../support/client.ts';
import { type Nodes, startNodes } from '../support/nodes.ts';
import { temporaryFolder } from '../support/process.ts';
import { answers, type Receiver, startReceiver } from '../webhooks/receiver.ts';

const ROOMS = 1_000;
/** Of two users each, on two nodes. */
const PAIRS = 20;
const SIGNALS = 3;
const ADMIN = 'the-token-of-the-churn';

/** Refuses one request in sixteen, by a fixed pseudo-random sequence. */
function failAtRandom(receiver: Receiver): void {
  let state = 20_260_042;
  receiver.behave((response) => {
    // The upper bits: the lower ones of a linear congruential generator have short periods.
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    answers(state >>> 28 === 0 ? 500 : 204)(response);
  });
}

/** A pair uses one room after the other, and leaves them in every way there is. */
async function churn(nodes: Nodes, pair: number, refs: string[]): Promise<void> {
  await using host = await connectClient(nodes.url(pair), { name: `Host ${pair}` });
  await using guest = await connectClient(nodes.url(pair + 1), { name: `Guest ${pair}` });
  for (let round = 0; round < ROOMS / PAIRS; round += 1) {
    const { room } = await host.must('room:create', { type: `t${pair}` });
    refs.push(room.ref);
    await guest.must('room:join', { code: room.code, profile: { mediaType: 'video' } });
    for (let signal = 0; signal < SIGNALS; signal += 1) {
      await host.must('signal', { to: guest.userId, data: { candidate: signal } });
    }
    if (round % 3 === 0) await guest.must('profile', { mediaType: 'audio' });
    if (round % 4 === 0) await guest.must('room:leave');
    if (round % 4 === 1) await host.must('room:leave');
    if (round % 4 === 2) await host.must('room:close');
    // Otherwise both move on to the next room without closing this one.
  }
}

/** Accepted events without repetitions, in the order of their first acceptance. */
function accepted(receiver: Receiver): FeedEvent[] {
  const events = new Map(receiver.received.map(({ event }) => [event.id, event]));
  return [...new Set(receiver.taken)].flatMap((id) => events.get(id) ?? []);
}

async function recorded(nodes: Nodes): Promise<Call[]> {
  const headers = { authorization: `Bearer ${ADMIN}` };
  const calls: Call[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const query = new URLSearchParams({ limit: '100', ...(cursor !== '' && { cursor }) });
    const response = await fetch(`${nodes.url(calls.length)}/v1/calls?${query}`, { headers });
    const page = (await response.json()) as { calls: CallJson[]; cursor: string | null };
    calls.push(...page.calls.map(({ sessions, ...rest }) => ({ ...rest, participants: sessions })));
    ({ cursor } = page);
  }
  return calls;
}

test('a failing back end receives every event of a thousand rooms, and the records agree', async () => {
  await using folder = await temporaryFolder();
  await using receiver = await startReceiver();
  failAtRandom(receiver);
  const stage = { kind: 'redis', count: 2 } as const;
  await using nodes = await startNodes(stage, {
    databaseUrl: `sqlite:${join(folder.path, 'calls.db')}`,
    webhookUrls: [receiver.url],
    webhookSecrets: ['the secret of the churn'],
    webhookAllowPrivate: true,
    adminToken: ADMIN,
    apiPerMinute: 100_000,
    graceMs: 500,
    roomEmptyMs: 300,
    tickMs: 1_000,
  });
  const refs: string[] = [];
  const playing = Promise.all(Array.from({ length: PAIRS }, (_, pair) => churn(nodes, pair, refs)));
  for (const share of [0.3, 0.6]) {
    await receiver.until(() => refs.length >= ROOMS * share);
    await receiver.restart();
  }
  await playing;
  expect(new Set(refs).size).toBe(ROOMS);
  const isOver = () => accepted(receiver).filter(({ type }) => type === 'room_destroyed').length === ROOMS;
  await vi.waitFor(() => expect(isOver()).toBe(true), { timeout: 90_000, interval: 500 });

  const fed = eventsByRef(accepted(receiver));
  expect([...fed.keys()].toSorted()).toEqual(refs.toSorted());
  for (const [ref, events] of fed) {
    expect(
      events.map(({ rev }) => rev),
      ref,
    ).toEqual(events.map((_, rev) => rev));
    const ofType = (type: string) =>
      events.flatMap((event) => (event.type === type ? [String(event.userId)] : [])).toSorted();
    expect(ofType('user_left'), ref).toEqual(ofType('user_joined'));
    expect(events.at(-1)?.type).toBe('room_destroyed');
  }
  // Webhooks and feed have the same events.
  const { events: all, lost } = (await nodes.servers[0]?.engine.feed.read({ limit: 100_000 })) ?? expect.unreachable();
  expect(lost).toBe(0);
  expect(all.filter(({ ref }) => ref !== null).length).toBe([...fed.values()].flat().length);

  await vi.waitFor(
    async () => expect((await recorded(nodes)).filter((call) => call.endedAt !== null)).toHaveLength(ROOMS),
    {
      timeout: 30_000,
      interval: 1_000,
    },
  );
  // Each node writes its signal counts at its own time.
  await vi.waitFor(
    async () => {
      const signals = (await recorded(nodes)).map((call) => call.signals);
      expect(signals.every((count) => count === SIGNALS)).toBe(true);
    },
    { timeout: 30_000, interval: 1_000 },
  );
  const calls = await recorded(nodes);
  for (const call of calls) expect(call).toMatchObject(expectedCall(fed.get(call.ref) ?? []));
}, 240_000);
