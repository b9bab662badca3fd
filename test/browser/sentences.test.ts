/** Whatever goes wrong, the page says in a sentence what it is and what to do about it. */
import { io } from 'socket.io-client';
import { describe, expect, test } from 'vitest';
import type { Acknowledgement, PushName, RequestName, RoomSnapshot } from '../../src/protocol/index.ts';
import { startProxy } from '../support/proxy.ts';
import { type Caller, openStage, type Stage } from './caller.ts';

describe('at the door', () => {
  test('a code that is none, and one that no room has', async () => {
    await using stage = await openStage();
    const ada = await stage.caller();
    await ada.type('12 34');
    await ada.press('Join');
    await ada.read('A room code has 6 digits. Check what you typed.');
    await ada.type(await unusedCode(stage));
    await ada.press('Join');
    await ada.read('No room has this code. Check the digits, or ask for the code again.');
  });

  test('a full room, then a locked one', async () => {
    await using stage = await openStage();
    await using host = await openHost(stage, { maxUsers: 2 });
    const [ada, bob] = await Promise.all([stage.caller({ name: 'Ada' }), stage.caller({ name: 'Bob' })]);
    await knock(ada, host.room.code);
    await ada.see('#call');
    await knock(bob, host.room.code);
    await bob.read('This room is full. Try again when somebody has left, or create another room.');

    await ada.press('Leave');
    await host.ask('room:update', { locked: true });
    await knock(bob, host.room.code);
    await bob.read('The host has locked this room. Ask the host to open it, then join again.');
  });

  test('too many guesses, with the time to wait', async () => {
    await using stage = await openStage({ freeMisses: 1 });
    const ada = await stage.caller();
    await ada.type(await unusedCode(stage));
    await ada.press('Join');
    await ada.read('No room has this code');
    await ada.press('Join');
    await ada.read(/^Too many tries\. Wait \d+ (seconds?|minutes), then try again\.$/);
  });

  test('a server that goes away, and is not there', async () => {
    await using stage = await openStage();
    const ada = await stage.caller();
    await stage.server.close();
    await ada.read('The server cannot be reached. Trying again…');
  });
});

describe('in the call', () => {
  test('removed, and banned', async () => {
    await using stage = await openStage();
    await using host = await openHost(stage);
    const ada = await stage.caller({ name: 'Ada' });
    await knock(ada, host.room.code);
    await ada.see('#call');
    await host.ask('room:kick', { userId: await ada.demo('userId'), ban: true });
    await ada.read('You were removed from the room');
    await ada.read(/does not want you to join this room again/);

    await ada.press('Go to the start page');
    await ada.see('#lobby');
    // Somebody removed is not sent back unasked, but may go elsewhere.
    await ada.create();
  });

  test('the room is closed', async () => {
    await using stage = await openStage();
    await using host = await openHost(stage);
    const ada = await stage.caller({ name: 'Ada' });
    await knock(ada, host.room.code);
    await ada.see('#call');
    await host.ask('room:close', {});
    await ada.read('The room has ended');
    await ada.read('The host has closed the room. Create a new one to go on.');
  });

  test('the seat was given away meanwhile: joined again by itself', async () => {
    await using stage = await openStage({ graceMs: 50, tickMs: 100 });
    await using host = await openHost(stage);
    await using proxy = await startProxy(stage.server.port);
    const ada = await stage.caller({ name: 'Ada', port: proxy.port });
    await knock(ada, host.room.code);
    await ada.see('#call');
    const left = host.hears('member:left');
    proxy.cut();
    await left;
    proxy.heal();
    await ada.read('You were away too long for your seat to be kept, so you have joined again.');
    expect(await ada.demo('ref')).toBe(host.room.ref);
  });
});

async function knock(caller: Caller, code: string): Promise<void> {
  await caller.type(code);
  await caller.press('Join');
}

/** Somebody in a room without a page: what only a host can do is not on it. */
interface Host extends AsyncDisposable {
  readonly room: RoomSnapshot;
  ask(name: RequestName, payload: object): Promise<void>;
  hears(name: PushName): Promise<void>;
}

async function openHost(stage: Stage, settings: { maxUsers?: number } = {}): Promise<Host> {
  const socket = io(stage.server.url, { transports: ['websocket'], auth: { v: 1 }, forceNew: true });
  const hears = (name: PushName) => new Promise<void>((resolve) => socket.once(name as string, () => resolve()));
  await hears('welcome');
  const reply: Acknowledgement<'room:create'> = await socket.emitWithAck('room:create', settings);
  if (!reply.ok) throw new Error(reply.error.message);
  return {
    room: reply.room,
    hears,
    ask: async (name, payload) => expect(await socket.emitWithAck(name, payload)).toMatchObject({ ok: true }),
    [Symbol.asyncDispose]: async () => void socket.disconnect(),
  };
}

/** A code that a room has had: the server hands none out twice so soon. */
async function unusedCode(stage: Stage): Promise<string> {
  await using host = await openHost(stage);
  await host.ask('room:close', {});
  return host.room.code;
}
