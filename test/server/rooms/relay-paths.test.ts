/**
 * The fast path of a signal beside the plain one. Two servers, one of which has the plain path only, receive the same
 * requests; their replies and pushes must be the same, too.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type * as Library from '../../../src/index.ts';
import { LIMITS } from '../../../src/protocol/limits.ts';
import { connectClient, type TestClient } from '../../support/client.ts';

const PATHS = '../../../src/server/sockets/fast-relay.ts';
/** Signals that took the fast path. */
let fastSignals = 0;

type Paths = typeof import('../../../src/server/sockets/fast-relay.ts');
const REPLACEMENTS = {
  fast: (actual: Paths): Paths => ({
    ...actual,
    relayFast: (context, session, packet) => {
      const relayed = actual.relayFast(context, session, packet);
      if (relayed) fastSignals += 1;
      return relayed;
    },
  }),
  plain: (actual: Paths): Paths => ({ ...actual, readRawSignal: () => undefined, relayFast: () => false }),
};

class RelayHarness {
  private readonly server: Library.SignalboxServer;
  readonly sender: TestClient;
  readonly target: TestClient;
  private readonly stranger: TestClient;
  private readonly away: string;

  private constructor(server: Library.SignalboxServer, people: readonly TestClient[], away: string) {
    const [sender, target, stranger] = people;
    if (!sender || !target || !stranger) throw new Error('three clients are needed');
    this.server = server;
    this.sender = sender;
    this.target = target;
    this.stranger = stranger;
    this.away = away;
  }

  static async open(way: keyof typeof REPLACEMENTS): Promise<RelayHarness> {
    vi.resetModules();
    vi.doMock(PATHS, async (original) => REPLACEMENTS[way](await original<Paths>()));
    const { createServer } = (await import('../../../src/index.ts')) as typeof Library;
    const server = await createServer({
      host: '127.0.0.1',
      port: 0,
      demo: false,
      // Who is away stays away, however slow the machine.
      graceMs: 600_000,
      userTtlMs: 600_000,
      eventsPerSecond: 100_000,
      eventsBurst: 100_000,
    });
    const [sender, target, stranger, gone] = await Promise.all(
      Array.from({ length: 4 }, () => connectClient(server.url)),
    );
    if (!sender || !target || !stranger || !gone) throw new Error('four clients were asked for');
    const { room } = await sender.must('room:create');
    for (const other of [target, gone]) await other.must('room:join', { code: room.code });
    const away = gone.userId;
    gone.cut();
    await Promise.all([sender.next('member:away'), target.next('member:away')]);
    return new RelayHarness(server, [sender, target, stranger], away);
  }

  /** Names in the place of ids, which differ from server to server. */
  private get names(): [string, string][] {
    const { sender, target, stranger, away } = this;
    return [
      [sender.userId, '<sender>'],
      [target.userId, '<target>'],
      [stranger.userId, '<stranger>'],
      [away, '<away>'],
    ];
  }

  /** Sends one event with the names replaced by ids, and tells what came of it, with the ids replaced by names. */
  async send(from: 'sender' | 'stranger', rest: readonly unknown[]): Promise<unknown> {
    const known = this.target.heard.length;
    const sent = replaceAll(
      rest,
      this.names.map(([id, name]) => [name, id]),
    );
    const reply: unknown = await this[from].socket.timeout(10_000).emitWithAck('signal', ...sent);
    // The server has pushed everything it was going to before it answers the next request.
    await this.target.must('ice');
    // The tick may push something of its own in between.
    const signals = this.target.heard.slice(known).filter(({ name }) => name === 'signal');
    return { reply, pushed: anonymous(signals, this.names) };
  }

  async close(): Promise<void> {
    for (const client of [this.sender, this.target, this.stranger]) client.socket.disconnect();
    await this.server.close();
  }
}

function replaceAll(value: readonly unknown[], pairs: readonly (readonly [string, string])[]): unknown[] {
  let text = JSON.stringify(value);
  for (const [from, to] of pairs) text = text.replaceAll(from, to);
  return JSON.parse(text) as unknown[]; // an array went in
}

const anonymous = (pushes: readonly unknown[], names: readonly [string, string][]): unknown[] =>
  replaceAll(pushes, names).map((push) =>
    JSON.parse(JSON.stringify(push, (key, value: unknown) => (key === 'ref' ? '<ref>' : value))),
  );

let fast: RelayHarness;
let plain: RelayHarness;
beforeAll(async () => {
  fast = await RelayHarness.open('fast');
  plain = await RelayHarness.open('plain');
});
afterAll(async () => {
  await Promise.all([fast.close(), plain.close()]);
  vi.doUnmock(PATHS);
});

/** @returns what both have answered and pushed, and whether the first went the fast path. */
async function both(from: 'sender' | 'stranger', ...rest: readonly unknown[]) {
  const before = fastSignals;
  const [first, second] = await Promise.all([fast.send(from, rest), plain.send(from, rest)]);
  expect(first).toEqual(second);
  return {
    ...(first as { reply: { ok: boolean; error?: { code: string } }; pushed: unknown[] }),
    fastSignals: fastSignals - before,
  };
}

const string = (length: number) => 'x'.repeat(length);

describe('the fast path and the plain path of a signal', () => {
  it.each([
    ['an object', { type: 'offer', sdp: 'v=0\r\n' }],
    ['a text', 'ünïcödé \u2028 \u{1f600} " \\ \ud800'],
    ['a number', -1.5e-7],
    ['null', null],
    ['false', false],
    ['a list', [[], {}, [1, [2]]]],
    ['keys that mean something elsewhere', JSON.parse('{"__proto__":{"to":1},"toJSON":1,"constructor":null,"from":2}')],
  ])('hand on %s', async (_, data) => {
    const { reply, pushed, fastSignals: taken } = await both('sender', { to: '<target>', data });
    expect(reply).toEqual({ ok: true });
    expect(pushed).toEqual([{ name: 'signal', body: { from: '<sender>', data, ref: '<ref>' } }]);
    expect(taken).toBe(1);
  });

  it.each([1, 60, 61, 62, 63, 64, 125, 126, 5_000, 10_800, 10_923, 11_000, 65_400, LIMITS.signalBytes - 2])(
    'hand on a text of %i characters',
    async (length) => {
      const { reply, pushed } = await both('sender', { to: '<target>', data: string(length) });
      expect(reply).toEqual({ ok: true });
      expect(pushed).toHaveLength(1);
    },
  );

  it('keep the order of signals that go different ways', async () => {
    const sizes = Array.from({ length: 40 }, (_, number) => (number % 3 === 0 ? 20_000 : 20) + number);
    for (const { sender, target } of [fast, plain]) {
      const known = target.heard.length;
      const to = target.userId;
      await Promise.all(sizes.map((size) => sender.must('signal', { to, data: string(size) })));
      await target.must('ice');
      const came = target.heard.slice(known).map(({ body }) => (body as unknown as { data: string }).data.length);
      expect(came).toEqual(sizes);
    }
  });

  it.each<[string, 'sender' | 'stranger', string, readonly unknown[]]>([
    ['too large', 'sender', 'PAYLOAD_TOO_LARGE', [{ to: '<target>', data: string(LIMITS.signalBytes - 1) }]],
    ['too large once written anew', 'sender', 'PAYLOAD_TOO_LARGE', [{ to: '<target>', data: '\u00e9'.repeat(40_000) }]],
    ['to nobody', 'sender', 'PEER_NOT_FOUND', [{ to: 'nobody', data: 1 }]],
    ['to somebody in no room', 'sender', 'PEER_NOT_FOUND', [{ to: '<stranger>', data: 1 }]],
    ['to somebody away', 'sender', 'PEER_AWAY', [{ to: '<away>', data: 1 }]],
    ['from outside', 'stranger', 'NOT_IN_ROOM', [{ to: '<target>', data: 1 }]],
    ['without data', 'sender', 'BAD_REQUEST', [{ to: '<target>' }]],
    ['without a target', 'sender', 'BAD_REQUEST', [{ data: 1 }]],
    ['to a number', 'sender', 'BAD_REQUEST', [{ to: 7, data: 1 }]],
    ['to no user id', 'sender', 'BAD_REQUEST', [{ to: 'no user', data: 1 }]],
    ['with one key more', 'sender', 'BAD_REQUEST', [{ to: '<target>', data: 1, more: 2 }]],
    ['with one key more in front', 'sender', 'BAD_REQUEST', [{ more: 2, to: '<target>', data: 1 }]],
    [
      'with two payloads',
      'sender',
      'BAD_REQUEST',
      [
        { to: '<target>', data: 1 },
        { to: '<target>', data: 2 },
      ],
    ],
    ['with no payload', 'sender', 'BAD_REQUEST', []],
    ['of null', 'sender', 'BAD_REQUEST', [null]],
    ['in a list', 'sender', 'BAD_REQUEST', [[{ to: '<target>', data: 1 }]]],
  ])('refuse one %s', async (_, from, code, rest) => {
    const { reply, pushed, fastSignals: taken } = await both(from, ...rest);
    expect(reply.error?.code).toBe(code);
    expect(pushed).toEqual([]);
    expect(taken).toBe(0);
  });

  it('take the keys in either order', async () => {
    expect(await both('sender', { data: 1, to: '<target>' })).toMatchObject({ reply: { ok: true }, pushed: [{}] });
  });

  it('answer alike whatever is said', async () => {
    const to = fc.oneof(
      fc.constantFrom('<target>', '<sender>', '<away>', '<stranger>', 'nobody', '', '__proto__'),
      fc.string(),
      fc.jsonValue(),
    );
    const data = fc.jsonValue({ depthSize: 'small' });
    const payload = fc.oneof(
      { weight: 4, arbitrary: fc.record({ to, data }) },
      { weight: 1, arbitrary: fc.record({ to, data, more: data }, { requiredKeys: [] }) },
      { weight: 1, arbitrary: data },
    );
    const said = fc.oneof(
      { weight: 9, arbitrary: fc.tuple(payload) },
      { weight: 1, arbitrary: fc.array(payload, { maxLength: 3 }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('sender' as const, 'stranger' as const), said, async (from, rest) => {
        await both(from, ...rest);
      }),
      { numRuns: 300 },
    );
  });
});
