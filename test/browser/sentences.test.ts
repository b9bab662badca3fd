/** Every failure is shown as a sentence that says what happened and what to do. */
import { describe, expect, test } from 'vitest';
import { type CreateOptions, connect, type Room } from '../../src/client/index.ts';
import { startCoturn } from '../support/coturn.ts';
import { freePort } from '../support/process.ts';
import { startProxy } from '../support/proxy.ts';
import { type Caller, type Harness, openHarness } from './harness.ts';

describe('the lobby explains', () => {
  test('an invalid code, and a code without a room', async () => {
    await using harness = await openHarness();
    const ada = await harness.caller();
    await ada.type('12 34');
    await ada.press('Join');
    await ada.read('A room code has 6 digits. Check what you typed.');
    await ada.type(await unusedCode(harness));
    await ada.press('Join');
    await ada.read('No room has this code. Check the digits, or ask for the code again.');
    expect(await ada.page.locator('#lobby-code').getAttribute('aria-invalid')).toBe('true');
  });

  test('an invitation to a room that has ended', async () => {
    await using harness = await openHarness();
    await using host = await openHost(harness);
    await host.room.update({ locked: true });
    const ada = await harness.caller({ hash: `#${host.room.code}` });
    await ada.read(/^You are invited to room/);
    await ada.press('Join');
    await ada.read(/^The host has locked this room/);
    // With the code there is nothing wrong.
    expect(await ada.page.locator('#lobby-code').getAttribute('aria-invalid')).toBe('false');
    await ada.read(/^You are invited to room/);
    await host.room.close();
    await ada.press('Join');
    await ada.read(/^(No room has this code|The room this code stood for has ended)/);
    await ada.read('Type the six digits you were given, or create a room and hand out its code.');
  });

  test('a full room and a locked room', async () => {
    await using harness = await openHarness();
    await using host = await openHost(harness, { maxUsers: 2 });
    const [ada, bob] = await Promise.all([harness.caller({ name: 'Ada' }), harness.caller({ name: 'Bob' })]);
    await knock(ada, host.room.code);
    await ada.see('#call');
    await knock(bob, host.room.code);
    await bob.read('This room is full. Try again when somebody has left, or create another room.');

    await ada.press('Leave');
    await host.room.update({ locked: true });
    await knock(bob, host.room.code);
    await bob.read('The host has locked this room. Ask the host to open it, then join again.');
  });

  test('too many wrong codes, with the time to wait', async () => {
    await using harness = await openHarness({ freeMisses: 1 });
    const ada = await harness.caller();
    await ada.type(await unusedCode(harness));
    await ada.press('Join');
    await ada.read('No room has this code');
    await ada.press('Join');
    await ada.read(/^Too many tries\. Wait \d+ (seconds?|minutes), then try again\.$/);
  });

  test('a server that cannot be reached', async () => {
    await using harness = await openHarness();
    const ada = await harness.caller();
    await harness.server.close();
    await ada.read('The server cannot be reached. Trying again…');
  });
});

describe('a member is told that', () => {
  test('the host has removed and banned them', async () => {
    await using harness = await openHarness();
    await using host = await openHost(harness);
    const ada = await harness.caller({ name: 'Ada' });
    await knock(ada, host.room.code);
    await ada.see('#call');
    await host.room.kick((await ada.demo('userId')) ?? '', { ban: true });
    await ada.read('You were removed from the room');
    await ada.read(/does not want you to join this room again/);

    await ada.press('Go to the start page');
    await ada.see('#lobby');
    // Somebody removed is not sent back unasked, but may go elsewhere.
    await ada.create();
  });

  test('the room was closed', async () => {
    await using harness = await openHarness();
    await using host = await openHost(harness);
    const ada = await harness.caller({ name: 'Ada' });
    await knock(ada, host.room.code);
    await ada.see('#call');
    await host.room.close();
    await ada.read('The room has ended');
    await ada.read('The host has ended the room. Create a new one to go on.');
  });

  test('their seat was given up meanwhile, and the page has joined again', async () => {
    await using harness = await openHarness({ graceMs: 50, tickMs: 100 });
    await using host = await openHost(harness);
    await using proxy = await startProxy(harness.server.port);
    const ada = await harness.caller({ name: 'Ada', port: proxy.port });
    await knock(ada, host.room.code);
    await ada.see('#call');
    const left = new Promise((resolve) => host.room.on('member:left', resolve));
    proxy.cut();
    await left;
    proxy.heal();
    await ada.read('You were away too long for your seat to be kept, so you have joined again.');
    expect(await ada.demo('ref')).toBe(host.room.ref);
  });
});

describe('members and host are told that', () => {
  test('the room is locked, opened again, and ended for everyone', async () => {
    await using harness = await openHarness();
    const [ada, bob] = await Promise.all([harness.caller({ name: 'Ada' }), harness.caller({ name: 'Bob' })]);
    const code = await ada.create();
    await ada.open('people');
    await ada.page.getByLabel('Lock the room').check();
    await ada.read('You have locked the room');
    await knock(bob, code);
    await bob.read('The host has locked this room. Ask the host to open it, then join again.');
    await ada.page.getByLabel('Lock the room').uncheck();
    await ada.read('You have opened the room again');
    await bob.press('Join');
    await bob.see('#call');

    await ada.press('End the room for everyone');
    await ada.press('Cancel');
    await ada.see('#call');
    await ada.press('End the room for everyone');
    await ada.press('End the room');
    await Promise.all([ada.read('You have ended the room'), bob.read('The room has ended')]);
    // What has ended does not come back.
    await bob.page.reload();
    await bob.see('#lobby');
  });

  test('a member has become the host after the host left', async () => {
    await using harness = await openHarness();
    await using host = await openHost(harness);
    const ada = await harness.caller({ name: 'Ada' });
    await knock(ada, host.room.code);
    await ada.open('people');
    expect(await ada.page.getByText('As the host').isVisible()).toBe(false);
    await host.room.leave();
    await ada.read('You are the host now');
    await ada.read('As the host');
  });
});

// The browser takes its time to give a relay up: these wait side by side.
describe.concurrent('about the relay the page says', () => {
  test('that it refuses the credentials', async () => {
    await using coturn = await startCoturn({ secrets: ['another one than the server has'] });
    await using harness = await openHarness({ turnUrls: [coturn.url('udp')], turnSecrets: ['a secret of its own'] });
    const { ada, bob } = await meet(harness, 'relay=only');
    await Promise.all([ada.read(REFUSED), bob.read(REFUSED)]);
  });

  test('that it does not answer', async () => {
    await using harness = await openHarness({
      turnUrls: [`turn:127.0.0.1:${await freePort()}?transport=tcp`],
      turnSecrets: ['a secret of its own'],
    });
    const { ada } = await meet(harness, 'relay=only');
    await ada.read(/^The relay server cannot be used, so not everyone can be reached\./);
  });

  test('that there is none, where only relays are allowed', async () => {
    await using harness = await openHarness();
    const { ada } = await meet(harness, 'relay=only');
    await ada.read(/^This address allows connections through a relay only, and this server offers none\./);
  });

  test('nothing, while every member is connected without it', async ({ expect }) => {
    await using harness = await openHarness();
    const { ada } = await meet(harness, '', REFUSE_ONCE_CONNECTED);
    await ada.hasMedia(1);
    // The page waits four seconds before it speaks; whether it keeps silent, only the time after that can tell.
    const elapsed = () => ada.page.evaluate('performance.now() - refused');
    await expect.poll(elapsed, { timeout: 30_000 }).toBeGreaterThan(5_000);
    expect(await ada.page.locator('#notice').isVisible()).toBe(false);
  });
});

/** What a TURN server does that says no when a better way has already been found. */
const REFUSE_ONCE_CONNECTED = `
  globalThis.refused = NaN;
  globalThis.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(configuration) {
      super(configuration);
      this.addEventListener('connectionstatechange', () => {
        if (this.connectionState !== 'connected') return;
        refused = performance.now();
        const what = { url: 'turn:turn.example.org', errorCode: 401, errorText: 'Unauthorized' };
        this.dispatchEvent(new RTCPeerConnectionIceErrorEvent('icecandidateerror', what));
      });
    }
  };`;

const REFUSED = /^The relay server does not accept the credentials it was given/;

async function meet(harness: Harness, search: string, script = ''): Promise<{ ada: Caller; bob: Caller }> {
  const [ada, bob] = await Promise.all(['Ada', 'Bob'].map((name) => harness.caller({ name, search, script })));
  if (ada === undefined || bob === undefined) throw new Error('nobody came');
  await knock(bob, await ada.create());
  await bob.see('#call');
  return { ada, bob };
}

async function knock(caller: Caller, code: string): Promise<void> {
  await caller.type(code);
  await caller.press('Join');
}

/** Somebody in a room, without a page. */
interface Host extends AsyncDisposable {
  readonly room: Room;
}

async function openHost(harness: Harness, options: CreateOptions = {}): Promise<Host> {
  const client = connect(harness.server.url, { store: null });
  return { room: await client.create(options), [Symbol.asyncDispose]: () => client.close() };
}

/** A code that a room has had: the server hands none out twice so soon. */
async function unusedCode(harness: Harness): Promise<string> {
  await using host = await openHost(harness);
  await host.room.close();
  return host.room.code;
}
