/** The event maps are the table, seen by the compiler: these tests fail in `npm run typecheck`. */
import { expect, expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type { ErrorBody } from '../../src/protocol/errors.ts';
import type {
  Acknowledgement,
  ClientToServerEvents,
  Push,
  PushName,
  Reply,
  RequestName,
  RequestPayload,
  ServerToClientEvents,
} from '../../src/protocol/events.ts';
import type { RoomCode, RoomRef, UserId } from '../../src/protocol/ids.ts';
import { type CLOSE_REASONS, type LEAVE_REASONS, PUSHES, REQUESTS } from '../../src/protocol/messages.ts';
import type { Json, Member, RoomInfo, RoomSnapshot } from '../../src/protocol/snapshot.ts';

test('requests are the requests of the table', () => {
  expectTypeOf<keyof ClientToServerEvents>().toEqualTypeOf<keyof typeof REQUESTS>();
  expectTypeOf<RequestName>().toEqualTypeOf<keyof typeof REQUESTS>();
  expect(Object.keys(REQUESTS)).toEqual(
    (
      'room:create room:join room:leave room:get room:update room:kick room:close profile signal message ' +
      'heartbeat ice'
    ).split(' '),
  );
});

test('pushes are the pushes of the table', () => {
  expectTypeOf<keyof ServerToClientEvents>().toEqualTypeOf<keyof typeof PUSHES>();
  expectTypeOf<PushName>().toEqualTypeOf<keyof typeof PUSHES>();
  expect(Object.keys(PUSHES)).toEqual(
    (
      'welcome member:joined member:left member:away member:back member:updated host:changed room:updated ' +
      'room:closed room:rev room:code-changed signal message session:replaced session:kicked server:drain ice'
    ).split(' '),
  );
});

test('what is said is what the schema takes, what is heard what it gives', () => {
  type Said = Parameters<ClientToServerEvents['room:join']>[0];
  expectTypeOf<Said>().toEqualTypeOf<z.input<(typeof REQUESTS)['room:join']['payload']>>();
  expectTypeOf<Said['code']>().toEqualTypeOf<string>();
  expectTypeOf<RequestPayload<'room:join'>['code']>().toEqualTypeOf<RoomCode>();
  expectTypeOf<RequestPayload<'room:join'>['ref']>().toEqualTypeOf<RoomRef | undefined>();
  expectTypeOf<RequestPayload<'signal'>>().toEqualTypeOf<{ to: UserId; data: Json }>();
  expectTypeOf<Parameters<ServerToClientEvents['member:joined']>>().toEqualTypeOf<[Push<'member:joined'>]>();
  expectTypeOf<Push<'member:joined'>['member']>().toEqualTypeOf<Member>();
  expectTypeOf<Push<'room:updated'>['room']>().toEqualTypeOf<RoomInfo>();
  expectTypeOf<Push<'welcome'>['room']>().toEqualTypeOf<RoomSnapshot | null>();
  expectTypeOf<Push<'member:left'>['reason']>().toEqualTypeOf<(typeof LEAVE_REASONS)[number]>();
  expectTypeOf<Push<'room:closed'>['reason']>().toEqualTypeOf<(typeof CLOSE_REASONS)[number]>();
});

test('an acknowledgement is the reply, or an error, and says which', () => {
  type Acknowledge = Parameters<ClientToServerEvents['room:join']>[1];
  expectTypeOf<Acknowledge>().toEqualTypeOf<(reply: Acknowledgement<'room:join'>) => void>();
  type Joined = Extract<Acknowledgement<'room:join'>, { ok: true }>;
  expectTypeOf<Joined['room']>().toEqualTypeOf<RoomSnapshot>();
  expectTypeOf<Extract<Acknowledgement<'room:join'>, { ok: false }>['error']>().toEqualTypeOf<ErrorBody>();
  expectTypeOf<Reply<'heartbeat'>['rev']>().toEqualTypeOf<number | null>();
  expectTypeOf<{ ok: true }>().toExtend<Acknowledgement<'room:leave'>>();
});

test('a code does not pass for a ref, nor plain text for either', () => {
  expectTypeOf<RoomCode>().not.toExtend<RoomRef>();
  expectTypeOf<RoomRef>().not.toExtend<UserId>();
  expectTypeOf<string>().not.toExtend<RoomCode>();
});

test('every event of a room carries its code, its ref and its revision', () => {
  const told = Object.entries(PUSHES).filter(([name]) => /^(member|host|room):/.test(name));
  expect(told).toHaveLength(10);
  for (const [, { body }] of told)
    expect(Object.keys(body.shape)).toEqual(expect.arrayContaining(['code', 'ref', 'rev']));
});
