/** A Redis that is there and refuses to write is not up: found without a client, said once, over when a write succeeds. */
import { rm } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import type { NodeId } from '../../src/protocol/ids.ts';
import { StoreUnavailable } from '../../src/support/store.ts';
import { logLines } from '../support/log.ts';
import { PATIENCE_MS } from '../support/patience-ms.ts';
import { type Nodes, startNodes } from './nodes.ts';

const PATIENT = { timeout: PATIENCE_MS, interval: 20 };

interface Refusing {
  readonly refuse: (nodes: Nodes) => Promise<unknown>;
  readonly allow: (nodes: Nodes) => Promise<unknown>;
}

const config = (allowed: Record<string, string>, refused: Record<string, string>): Refusing => ({
  refuse: async ({ admin }) => admin.configSet(refused),
  allow: async ({ admin }) => admin.configSet(allowed),
});

const send = async ({ admin }: Nodes, command: string): Promise<unknown> => admin.sendCommand(command.split(' '));

const KINDS: Record<string, Refusing> = {
  READONLY: {
    refuse: (nodes) => send(nodes, 'REPLICAOF 127.0.0.1 1'),
    allow: (nodes) => send(nodes, 'REPLICAOF NO ONE'),
  },
  OOM: config({ maxmemory: '0' }, { maxmemory: '1' }),
  NOREPLICAS: config({ 'min-replicas-to-write': '0' }, { 'min-replicas-to-write': '1' }),
  MISCONF: {
    async refuse(nodes) {
      await nodes.admin.configSet('save', '3600 1');
      const { dir = '' } = await nodes.admin.configGet('dir');
      await rm(dir, { recursive: true });
      await send(nodes, 'BGSAVE');
    },
    allow: (nodes) => nodes.admin.configSet('save', ''),
  },
  BUSY: {
    async refuse(nodes) {
      await nodes.admin.configSet('busy-reply-threshold', '1');
      const script = nodes.admin.duplicate();
      script.on('error', () => {});
      await script.connect();
      script
        .eval('while true do end')
        .catch(() => {})
        .finally(() => script.destroy());
    },
    allow: (nodes) => send(nodes, 'SCRIPT KILL'),
  },
  NOPERM: {
    refuse: (nodes) => send(nodes, 'ACL SETUSER default -evalsha'),
    allow: (nodes) => send(nodes, 'ACL SETUSER default +evalsha'),
  },
};

const acl = (rules: string, allowed: string): Refusing => ({
  refuse: (nodes) => send(nodes, `ACL SETUSER default ${rules}`),
  allow: (nodes) => send(nodes, `ACL SETUSER default ${allowed}`),
});

const MESSAGES_NOT_PERMITTED: Record<string, Refusing> = {
  'the channels are': acl('resetchannels', 'allchannels'),
  'some channels are': acl('resetchannels &sb:node:* &sb:room:events', 'allchannels'),
  'publishing is': acl('-spublish', '+spublish'),
  'subscribing is': acl('-ssubscribe', '+ssubscribe'),
};

test.concurrent.each(Object.entries(MESSAGES_NOT_PERMITTED))(
  'a store is not up while %s not permitted, and messages pass once it is up again',
  async (_what, kind) => {
    await using nodes = await startNodes({ count: 2 });
    const { engines } = nodes;
    const [here, there] = engines;
    if (here === undefined || there === undefined) expect.unreachable();
    const arrived: unknown[] = [];
    there.fanout.onMessage((message) => arrived.push(message));
    await kind.refuse(nodes);
    for (const engine of engines) {
      await vi.waitFor(() => {
        expect(engine.health()).toMatchObject({ state: expect.stringMatching('recovering|down'), reason: 'NOPERM' });
        expect(engine.fanout.isUp('any')).toBe(false);
      }, PATIENT);
    }
    await kind.allow(nodes);
    for (const engine of engines) {
      await vi.waitFor(() => expect(engine.health()).toMatchObject({ state: 'up' }), PATIENT);
      expect(engine.fanout.isUp('any')).toBe(true);
    }
    here.fanout.send('node-1' as NodeId, { kind: 'evicted', evicted: [] });
    await vi.waitFor(() => expect(arrived).toHaveLength(1), PATIENT);
  },
);

test.each(['-hset', '-publish', '-xadd', '-@write'])(
  'a script that may not run a command (%s) fails because of the store, and the store is down',
  async (rule) => {
    await using nodes = await startNodes({ count: 1 });
    const harness = nodes.next();
    await send(nodes, `ACL SETUSER default ${rule}`);
    await expect(harness.create('anna')).rejects.toBeInstanceOf(StoreUnavailable);
    await vi.waitFor(() => expect(harness.engine.health()).toMatchObject({ state: 'down', reason: 'NOPERM' }), PATIENT);
    await send(nodes, 'ACL SETUSER default +@all');
    await vi.waitFor(() => expect(harness.engine.health()).toMatchObject({ state: 'up' }), PATIENT);
    expect(await harness.create('anna')).toMatchObject({ ok: true });
  },
);

test.concurrent.each(Object.entries(KINDS))(
  '%s marks the store as down until a write succeeds again',
  async (reason, kind) => {
    const { log, lines } = logLines();
    await using nodes = await startNodes({ count: 1, log });
    const [engine] = nodes.engines;
    expect(engine?.health()).toMatchObject({ state: 'up' });
    const said = () => lines().filter(({ msg }) => msg.startsWith('the store'));
    const before = Date.now();
    await kind.refuse(nodes);
    await vi.waitFor(() => expect(engine?.health()).toMatchObject({ state: 'down', reason }), PATIENT);
    expect(engine?.health().since).toBeGreaterThanOrEqual(before);
    await expect(nodes.next().create('anna')).rejects.toBeInstanceOf(StoreUnavailable);
    await kind.allow(nodes);
    await vi.waitFor(() => expect(engine?.health()).toMatchObject({ state: 'up' }), PATIENT);
    expect(engine?.health().reason).toBeUndefined();
    const warnings = said().filter(({ level }) => level >= 40);
    expect(warnings.map((line) => line['reason'])).toEqual([reason]);
    expect(said().filter(({ level }) => level === 30)).toMatchObject([{ store: 'up' }]);
  },
);

test('what is allowed when memory is short does not mark a store that refuses others as up', async () => {
  await using nodes = await startNodes({ count: 1 });
  const harness = nodes.next();
  const room = await harness.room(['anna', 'bert']);
  await nodes.admin.configSet('maxmemory', '1');
  await expect(harness.create('cora')).rejects.toBeInstanceOf(StoreUnavailable);
  await harness.renew(room, 'anna');
  await harness.tick();
  await harness.read(room.code);
  expect(harness.engine.health()).toMatchObject({ state: 'down', reason: 'OOM' });
});

test('when memory is short, a user with a record arrives, and one without is refused', async () => {
  await using nodes = await startNodes({ count: 1 });
  const harness = nodes.next();
  const { session } = await harness.arrive('anna');
  await nodes.admin.configSet('maxmemory', '1');
  expect((await harness.arrive('anna')).session).toBeGreaterThan(session);
  await expect(harness.arrive('bert')).rejects.toThrow(/OOM/);
  await nodes.admin.configSet('maxmemory', '0');
  expect(await harness.arrive('bert')).toMatchObject({ ok: true });
});
