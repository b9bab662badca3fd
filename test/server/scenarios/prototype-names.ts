/**
 * Names that every object of JavaScript has: as ids they are names like any other, and as keys of `metadata` those that change
 * a prototype are refused, alike by the sockets, the REST API and the hooks.
 */
import { expect } from 'vitest';
import type { Nodes } from '../../support/nodes.ts';
import { type Answer, RawSocket } from '../../support/raw-socket.ts';
import { createApiClient } from '../http/api/api-client.ts';
import type { Scenario } from './run-scenarios.ts';

const NAMES = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', '__defineGetter__'] as const;

const REFUSED: readonly string[] = [
  '{"__proto__":{"admin":true}}',
  '{"__proto__":null}',
  '{"\\u005f_proto__":1}',
  '[{"a":[{"__proto__":[]}]}]',
  '{"constructor":{"prototype":{"admin":true}}}',
  '{"a":{"const\\u0072uctor":{"prototype":null}}}',
];
const TAKEN: readonly string[] = [
  '{"constructor":null,"prototype":{},"hasOwnProperty":1,"toString":"x","__defineGetter__":[],"toJSON":1}',
  '{"constructor":{"name":"prototype"},"proto":"__proto__","__proto":1,"valueOf":{}}',
  '["__proto__","constructor"]',
];

const portOf = (nodes: Nodes, node: number) => Number(new URL(nodes.url(node)).port);
const join = (nodes: Nodes, node: number, token: string) => RawSocket.join(portOf(nodes, node), {}, { v: 1, token });

const codeOf = (answer: Answer): string => (answer.ok ? 'ok' : answer.error.code);

interface Room {
  readonly code: string;
  readonly metadata?: unknown;
}
/** @throws TypeError when the answer has none. */
const roomIn = (answer: Answer): Room => (answer as unknown as { room: Room }).room;

/** The requests of the sockets that have metadata, with it. */
const requestsWith = (code: string, metadata: string): readonly string[] => [
  `["room:create",{"metadata":${metadata}}]`,
  `["room:create",{"profile":{"metadata":${metadata}}}]`,
  `["room:join",{"code":"${code}","profile":{"metadata":${metadata}}}]`,
  `["room:update",{"metadata":${metadata}}]`,
  `["profile",{"metadata":${metadata}}]`,
];

export const prototypeNames: Readonly<Record<string, Scenario>> = {
  async 'users may have them: they join, signal, are banned and removed like any other'(nodes) {
    await using host = await join(nodes, 0, 'host');
    const { code } = roomIn(await host.ask('room:create', {}));
    const api = createApiClient(nodes.url(0));
    for (const [at, name] of NAMES.entries()) {
      await using user = await join(nodes, at, name);
      expect(user.userId).toBe(name);
      expect(codeOf(await host.ask('signal', { to: name, data: at }))).toBe('PEER_NOT_FOUND');
      expect(codeOf(await host.ask('room:kick', { userId: name }))).toBe('PEER_NOT_FOUND');
      expect(codeOf(await user.ask('room:join', { code }))).toBe('ok');
      expect(codeOf(await host.ask('signal', { to: name, data: at }))).toBe('ok');
      await user.next(new RegExp(`^42\\["signal",{"from":"host","data":${at},`));
      expect(codeOf(await user.ask('signal', { to: 'host', data: at }))).toBe('ok');
      await host.next(new RegExp(`^42\\["signal",{"from":"${name}","data":${at},`));
      if (at % 2 === 0) await api.expectStatus(204, 'DELETE', `/rooms/${code}/members/${name}?ban=true`);
      else expect(codeOf(await host.ask('room:kick', { userId: name, ban: true }))).toBe('ok');
      await user.next(/^42\["session:kicked"/);
      await using again = await join(nodes, at + 1, name);
      expect(codeOf(await again.ask('room:join', { code }))).toBe('BANNED');
    }
  },

  async 'idempotency keys may have them'(nodes) {
    const api = createApiClient(nodes.url(0));
    for (const name of NAMES) {
      await using host = await join(nodes, 0, `host-${name}`);
      const first = roomIn(await host.ask('room:create', { idempotencyKey: name }));
      expect(roomIn(await host.ask('room:create', { idempotencyKey: name })).code).toBe(first.code);
      const headers = { 'idempotency-key': name };
      const made = await api.expectStatus<Room>(201, 'POST', '/rooms', {}, headers);
      expect(made.code).not.toBe(first.code);
      expect(await api.expectStatus<Room>(200, 'POST', '/rooms', {}, headers)).toMatchObject({ code: made.code });
    }
  },

  async 'metadata that changes a prototype is refused at every door'(nodes) {
    await using host = await join(nodes, 0, 'host-of-refusals');
    const { code } = roomIn(await host.ask('room:create', {}));
    const api = createApiClient(nodes.url(0));
    for (const metadata of REFUSED) {
      for (const request of requestsWith(code, metadata))
        expect([request, codeOf(await host.askText(request))]).toEqual([request, 'BAD_REQUEST']);
      for (const [method, path] of [
        ['POST', '/rooms'],
        ['PATCH', `/rooms/${code}`],
      ] as const)
        expect(await api.refused(method, path, `{"metadata":${metadata}}`)).toBe('400 BAD_REQUEST');
      await using refused = await RawSocket.open(portOf(nodes, 0));
      refused.send(`40${JSON.stringify({ v: 1, token: `{"all":${metadata}}` })}`);
      expect(await refused.next(/^44/)).toMatch(/The field metadata of the identity is invalid/);
    }
  },

  async 'metadata may have every other key, and is read alike at every door'(nodes) {
    await using host = await join(nodes, 0, 'host-of-others');
    await using other = await join(nodes, 1, `{"all":${TAKEN[0]}}`);
    const { code } = roomIn(await host.ask('room:create', {}));
    const api = createApiClient(nodes.url(1));
    expect(codeOf(await other.ask('room:join', { code }))).toBe('ok');
    expect(roomIn(await host.ask('room:get', {}))).toMatchObject({
      members: [{}, { metadata: { all: JSON.parse(String(TAKEN[0])) as unknown } }],
    });
    for (const metadata of TAKEN) {
      const value: unknown = JSON.parse(metadata);
      expect(codeOf(await host.askText(`["room:update",{"metadata":${metadata}}]`))).toBe('ok');
      expect(codeOf(await host.askText(`["profile",{"metadata":${metadata}}]`))).toBe('ok');
      const read = await api.expectStatus<Room>(200, 'GET', `/rooms/${code}`);
      expect(read).toMatchObject({ metadata: value, members: [{ metadata: value }, {}] });
      expect(roomIn(await other.ask('room:get', {}))).toEqual(read);
      expect(await api.expectStatus<Room>(200, 'PATCH', `/rooms/${code}`, `{"metadata":${metadata}}`)).toMatchObject({
        metadata: value,
      });
    }
  },

  async 'unknown fields and parameters of these names are refused at every door'(nodes) {
    await using user = await join(nodes, 0, 'user-of-fields');
    const { code } = roomIn(await user.ask('room:create', {}));
    const api = createApiClient(nodes.url(0));
    for (const name of NAMES) {
      for (const request of ['room:create', 'room:leave', 'heartbeat', 'message', name])
        expect(codeOf(await user.askText(`["${request}",{"data":1,"${name}":{}}]`))).toBe('BAD_REQUEST');
      expect(await api.refused('PATCH', `/rooms/${code}`, `{"${name}":{}}`)).toMatch(/^4\d\d BAD_REQUEST$/);
      expect(await api.refused('GET', `/rooms/${code}?${name}=1`)).toBe('422 BAD_REQUEST');
      expect(await api.refused('GET', `/rooms/${name}`)).toBe('404 ROOM_NOT_FOUND');
      expect(await api.refused('POST', `/references/${name}`, {})).toMatch(/^404 NOT_FOUND$|^501 NOT_CONFIGURED$/);
    }
  },
};
