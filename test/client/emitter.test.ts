/** Listeners are independent of each other. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Emitter } from '../../src/client/emitter.ts';
import { type MemoryNode, startMemoryNode } from '../support/memory-node.ts';
import { startChild } from '../support/process.ts';
import { barrier, Clients, twoMembers } from './harness.ts';

describe('an emitter', () => {
  const told: string[] = [];
  const hear = (words: string) => () => void told.push(words);

  test('calls listeners in the order of adding, and a listener that was added twice twice', () => {
    const emitter = new Emitter<{ a: number; b: string }>();
    const heard: unknown[] = [];
    const listener = (body: number) => void heard.push(body);
    const unsubscribe = emitter.on('a', listener);
    emitter.on('a', listener);
    emitter.on('b', (body) => heard.push(body));
    expect([emitter.emit('a', 1), emitter.emit('b', 'x')]).toEqual([true, true]);
    unsubscribe();
    unsubscribe();
    emitter.emit('a', 2);
    expect(heard).toEqual([1, 1, 'x', 2]);
    expect(new Emitter<{ a: number }>().emit('a', 1)).toBe(false);
  });

  test('calls a listener that removes itself once, and all others', () => {
    told.length = 0;
    const emitter = new Emitter<{ a: undefined }>();
    emitter.on('a', hear('before'));
    const unsubscribe = emitter.on('a', () => {
      told.push('once');
      unsubscribe();
    });
    emitter.on('a', hear('after'));
    emitter.emit('a', undefined);
    emitter.emit('a', undefined);
    expect(told).toEqual(['before', 'once', 'after', 'before', 'after']);
  });

  test('does not call a listener that another one has removed, and calls an added one from the next event on', () => {
    told.length = 0;
    const emitter = new Emitter<{ a: undefined }>();
    const unsubscribe = emitter.on('a', () => {
      takeBack();
      emitter.on('a', hear('added'));
      unsubscribe();
    });
    const takeBack = emitter.on('a', hear('taken back'));
    emitter.on('a', hear('last'));
    emitter.emit('a', undefined);
    emitter.emit('a', undefined);
    expect(told).toEqual(['last', 'last', 'added']);
  });
});

describe('listeners of a room', () => {
  let nodes: MemoryNode;
  beforeAll(async () => {
    nodes = await startMemoryNode();
  });
  afterAll(() => nodes[Symbol.asyncDispose]());

  test('a listener that throws does not stop the others, and its error is an uncaught exception', async () => {
    // In another process: here the uncaught exception would fail the test run.
    const script = `
      import { connect } from './src/client/index.ts';
      const faults = [];
      process.on('uncaughtException', (error) => faults.push(error.message));
      const client = connect(${JSON.stringify(nodes.url(0))});
      client.on('state', () => { throw new Error('of the state'); });
      const room = await client.create();
      const heard = new Promise((resolve) => {
        room.on('message', () => { throw new Error('of the message'); });
        room.on('message', ({ data }) => resolve(data));
      });
      room.on('change', () => { throw new Error('of the change'); });
      const changed = new Promise((resolve) => room.on('change', ({ room }) => room.name === 'Tea' && resolve()));
      await room.message('heard');
      await room.update({ name: 'Tea' });
      await changed;
      console.log(await heard, room.snapshot.name, room.rev, client.state);
      await client.close();
      console.log([...new Set(faults)].sort().join(', '), client.state);
    `;
    await using child = await startChild({
      command: process.execPath,
      args: ['--import', 'tsx', '--input-type=module', '--eval', script],
    });
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(child.lines).toEqual(['heard Tea 2 online', 'of the change, of the message, of the state closed']);
  });

  test('a listener may leave, join and close', async () => {
    await using clients = new Clients();
    const { ann, ben, room, bens } = await twoMembers(clients, [nodes.url(0), nodes.url(0)]);
    const after: string[] = [];
    bens.on('member:updated', () => void bens.leave());
    bens.on('change', () => after.push('change'));
    bens.on('ended', () => after.push('ended'));
    await room.setProfile({ name: 'Anna' });
    await barrier(room);
    expect(after, 'its own end is the last that it hears').toEqual(['ended']);
    expect(ben.room).toBeNull();
    room.on('message', () => void ann.close());
    room.on('message', () => after.push('message'));
    room.on('ended', ({ reason }) => after.push(reason));
    await room.message('the last one').catch(() => {});
    await new Promise<void>((resolve) => (ann.state === 'closed' ? resolve() : ann.on('state', () => resolve())));
    expect(after).toEqual(['ended', 'left', 'message']);
  });

  test('signals are kept for the first listener, and again while there is none', async () => {
    await using clients = new Clients();
    const { room, bens } = await twoMembers(clients, [nodes.url(0), nodes.url(0)]);
    const heard: unknown[] = [];
    const to = bens.self.userId;
    await room.signal(to, 1);
    await barrier(bens, room);
    // Not within the call of `on`: the caller does not have the unsubscribe function yet.
    const unsubscribe = bens.on('signal', ({ data }) => {
      heard.push(data);
      if (data === 2) unsubscribe();
    });
    expect(heard).toEqual([]);
    await room.signal(to, 2);
    await room.signal(to, 3);
    await barrier(bens, room);
    expect(heard).toEqual([1, 2]);
    bens.on('signal', ({ data }) => heard.push(data));
    await barrier(bens, room);
    expect(heard).toEqual([1, 2, 3]);
  });
});
