/**
 * `data` of signals and messages on the wire: whatever its sender has written arrives as the same text, by the fast path and
 * the plain one, on the sender's node and on another, and one that is refused is refused alike everywhere.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { LIMITS } from '../../../src/protocol/limits.ts';
import type { Nodes } from '../../support/nodes.ts';
import { RawSocket } from '../../support/raw-socket.ts';
import { createApiClient } from '../http/api/api-client.ts';
import { SPELLINGS } from '../json/spellings.ts';
import type { Scenario } from './run-scenarios.ts';

/** Ways to write the same request: the first is that of nearly every client, and the only one of the fast path. */
const ENVELOPES: readonly ((to: string, data: string) => string)[] = [
  (to, data) => `["signal",{"to":"${to}","data":${data}}]`,
  (to, data) => `["signal",{"data":${data},"to":"${to}"}]`,
  (to, data) => ` [ "signal" ,\t{ "to" : "${to}" , "data" :\n${data} } ] `,
  (to, data) => `["\\u0073ignal",{"t\\u006f":"${to}","d\\u0061ta":${data}}]`,
  (to, data) => `["signal",{"data":"first","to":"nobody","to":"${to}","data":${data}}]`,
];

class Room implements AsyncDisposable {
  readonly code: string;
  readonly ref: string;
  readonly sender: RawSocket;
  /** On the sender's node, and on the other one where there are two. */
  readonly receivers: readonly RawSocket[];

  private constructor({ code, ref }: { code: string; ref: string }, sender: RawSocket, receivers: RawSocket[]) {
    this.code = code;
    this.ref = ref;
    this.sender = sender;
    this.receivers = receivers;
  }

  static async open(nodes: Nodes): Promise<Room> {
    const join = (node: number) => RawSocket.join(Number(new URL(nodes.url(node)).port));
    const [sender, ...receivers] = [await join(0), await join(0), await join(1)] as const;
    const { room } = (await sender.ask('room:create', {})) as unknown as { room: { code: string; ref: string } };
    for (const receiver of receivers)
      expect(await receiver.ask('room:join', { code: room.code })).toMatchObject({ ok: true });
    return new Room(room, sender, receivers);
  }

  /** Sends each spelling in each envelope to a receiver, every other one with an acknowledgement. */
  async signal({ userId: to }: RawSocket, spellings: readonly string[]): Promise<void> {
    for (const [at, data] of spellings.entries()) {
      for (const envelope of ENVELOPES) {
        if (at % 2 === 0) this.sender.send(`42${envelope(to, data)}`);
        else expect(await this.sender.askText(envelope(to, data))).toEqual({ ok: true });
      }
    }
    expect(await this.sender.ask('signal', { to, data: END })).toEqual({ ok: true });
  }

  pushed(name: 'signal' | 'message', from: string | null, data: string): string {
    return `42["${name}",{"from":${JSON.stringify(from)},"data":${data},"ref":"${this.ref}"}]`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of [this.sender, ...this.receivers]) await socket[Symbol.asyncDispose]();
  }
}

const END = 'the last one';

/** The pushes of that name up to the last one, which is no part of them. */
async function heard(socket: RawSocket, name: 'signal' | 'message'): Promise<string[]> {
  await socket.next(new RegExp(`^42\\["${name}".*"data":"${END}"`));
  return socket.texts.filter((text) => text.startsWith(`42["${name}"`)).slice(0, -1);
}

/** Any JSON, with and without indents. */
const anyTexts = (): string[] =>
  fc
    .sample(fc.tuple(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 1, 4)), 60)
    .map(([value, indent]) => JSON.stringify(value, null, indent));

const string = (length: number) => JSON.stringify('x'.repeat(length - 2));
const list = (count: number) => `[${Array.from({ length: count }, () => '1').join(',')}]`;

/** What is refused, by its data. The payload and its `to` are two values. */
const REFUSED: readonly (readonly [string, string, string])[] = [
  ['one byte too many', string(LIMITS.signalBytes + 1), 'PAYLOAD_TOO_LARGE'],
  [
    'one byte too many, of two each',
    string((LIMITS.signalBytes + 2) / 2 + 1).replaceAll('x', 'é'),
    'PAYLOAD_TOO_LARGE',
  ],
  ['a level too many', `${'['.repeat(LIMITS.depth + 1)}${']'.repeat(LIMITS.depth + 1)}`, 'BAD_REQUEST'],
  ['a value too many', list(LIMITS.values - 2), 'BAD_REQUEST'],
];
const TAKEN: readonly (readonly [string, string])[] = [
  ['all bytes', string(LIMITS.signalBytes)],
  ['all bytes, and white space', `[${' '.repeat(20_000)}${string(LIMITS.signalBytes - 2)}]`],
  ['few letters, all of them as escapes', `"${'\\u00e9'.repeat(15_000)}"`],
  ['all levels', `${'['.repeat(LIMITS.depth)}${']'.repeat(LIMITS.depth)}`],
  ['all values', list(LIMITS.values - 3)],
];

export const opaqueData: Readonly<Record<string, Scenario>> = {
  async 'a signal of any size to nobody, to a stranger or to somebody away is refused with the reason'(nodes) {
    await using room = await Room.open(nodes);
    const [near, far] = room.receivers;
    await using stranger = await RawSocket.join(Number(new URL(nodes.url(1)).port));
    const refusals = async (to: string) => {
      const codes: string[] = [];
      for (const length of [3, 1024, 20_000, LIMITS.signalBytes]) {
        const answer = await room.sender.askText(`["signal",{"to":"${to}","data":${string(length)}}]`);
        codes.push(answer.ok ? 'ok' : answer.error.code);
      }
      return new Set(codes);
    };
    for (const nobody of ['nobody', '__proto__', 'constructor', stranger.userId])
      expect(await refusals(nobody)).toEqual(new Set(['PEER_NOT_FOUND']));
    for (const gone of [near, far]) {
      if (gone === undefined) throw new Error('two receivers were opened');
      expect(await refusals(gone.userId)).toEqual(new Set(['ok']));
      await gone[Symbol.asyncDispose]();
      await room.sender.next(new RegExp(`^42\\["member:away",.*"userId":"${gone.userId}"`));
      expect(await refusals(gone.userId)).toEqual(new Set(['PEER_AWAY']));
    }
  },

  async 'a signal arrives as the text that its sender has written'(nodes) {
    await using room = await Room.open(nodes);
    const spellings = [...SPELLINGS, ...anyTexts()];
    for (const receiver of room.receivers) {
      await room.signal(receiver, spellings);
      const expected = spellings.flatMap((data) =>
        ENVELOPES.map(() => room.pushed('signal', room.sender.userId, data)),
      );
      expect(await heard(receiver, 'signal')).toEqual(expected);
    }
  },

  async 'a message arrives as the text that its sender has written, at its sender too'(nodes) {
    await using room = await Room.open(nodes);
    const spellings = [...SPELLINGS, ...anyTexts()].filter((text) => Buffer.byteLength(text) <= LIMITS.messageBytes);
    for (const [at, data] of spellings.entries()) {
      if (at % 2 === 0) room.sender.send(`42["message",{"data":${data}}]`);
      else expect(await room.sender.askText(`[ "message" , { "data" : ${data} } ]`)).toEqual({ ok: true });
    }
    await room.sender.ask('message', { data: END });
    for (const member of [room.sender, ...room.receivers])
      expect(await heard(member, 'message')).toEqual(
        spellings.map((data) => room.pushed('message', room.sender.userId, data)),
      );
  },

  async 'a message of a back end arrives as the text of its body'(nodes) {
    await using room = await Room.open(nodes);
    const api = createApiClient(nodes.url(1));
    const path = `/rooms/${room.code}/messages`;
    for (const data of SPELLINGS) await api.expectStatus(202, 'POST', path, ` { "data" : ${data} } `);
    await api.expectStatus(202, 'POST', path, { data: END });
    for (const member of [room.sender, ...room.receivers])
      expect(await heard(member, 'message')).toEqual(SPELLINGS.map((data) => room.pushed('message', null, data)));
    expect(await api.refused('POST', path, `{"data":${list(LIMITS.values - 1)}}`)).toBe('400 BAD_REQUEST');
    await api.expectStatus(202, 'POST', path, `{"data":${list(LIMITS.values - 2)}}`);
  },

  async 'a signal at a limit is taken, and one over it refused, in every envelope'(nodes) {
    await using room = await Room.open(nodes);
    for (const receiver of room.receivers) {
      for (const envelope of ENVELOPES.slice(0, -1)) {
        for (const [what, data, code] of REFUSED)
          expect([what, await room.sender.askText(envelope(receiver.userId, data))]).toMatchObject([
            what,
            { ok: false, error: { code } },
          ]);
        for (const [what, data] of TAKEN)
          expect([what, await room.sender.askText(envelope(receiver.userId, data))]).toEqual([what, { ok: true }]);
      }
      await room.sender.ask('signal', { to: receiver.userId, data: END });
      const expected = ENVELOPES.slice(0, -1).flatMap(() =>
        TAKEN.map(([, data]) => room.pushed('signal', room.sender.userId, data)),
      );
      expect(await heard(receiver, 'signal')).toEqual(expected);
    }
  },
};
