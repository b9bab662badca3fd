/** Each chat message arrives exactly once, over the data channel or through the server. */
import { expect, test } from 'vitest';
import { connect, type Json } from '../../src/client/index.ts';
import { startProxy } from '../support/proxy.ts';
import { type Caller, type Harness, openHarness } from './harness.ts';

test('a message reaches every member once when one of them has no data channel', async () => {
  await using harness = await openHarness();
  const [ada, bob, code] = await pair(harness);
  await using robot = await openRobot(harness, code);
  await Promise.all([ada.see('.tile >> nth=2'), bob.see('.tile >> nth=2')]);

  await ada.say('Do you hear me?');
  await expect.poll(() => robot.heard).toEqual([expect.objectContaining({ text: 'Do you hear me?' })]);
  // A later word of the same way: whatever was sent twice would have come before it.
  await robot.say({ text: 'I do' });
  await Promise.all([ada.tells('I do'), bob.tells('I do')]);
  await robot.say('and so does my toaster');
  await Promise.all([ada.tells('toaster'), bob.tells('toaster')]);
  expect(await lines(ada)).toEqual(['YouDo you hear me?', 'RobotI do', 'Robotand so does my toaster']);
  expect(await lines(bob)).toEqual(['AdaDo you hear me?', 'RobotI do', 'Robotand so does my toaster']);
  // Their own word comes back to everybody through the server.
  expect(robot.heard.map((data) => JSON.stringify(data))).toHaveLength(3);
});

test('a message is shown once per message id', async () => {
  await using harness = await openHarness();
  const [ada, , code] = await pair(harness);
  await using robot = await openRobot(harness, code);
  for (const id of ['a', 'a', 'b']) await robot.say({ id, text: `message ${id}` });
  await robot.say({ text: 'that is all' });
  await ada.tells('that is all');
  expect(await lines(ada)).toEqual(['Robotmessage a', 'Robotmessage b', 'Robotthat is all']);
});

test('chat goes on between browsers while the server is away', async () => {
  await using harness = await openHarness();
  await using proxy = await startProxy(harness.server.port);
  const ada = await harness.caller({ name: 'Ada' });
  const bob = await harness.caller({ name: 'Bob', port: proxy.port });
  await bob.type(await ada.create());
  await bob.join();
  await Promise.all([canSend(ada), canSend(bob)]);
  proxy.cut();
  await ada.read('Bob lost the connection');
  await bob.say('The server is gone');
  await ada.tells('The server is gone');
  await ada.say('We are not');
  await bob.tells('We are not');
});

test('the sender is told who did not get a message, and a message that nobody got is not lost', async () => {
  await using harness = await openHarness();
  await using proxy = await startProxy(harness.server.port);
  const ada = await harness.caller({ name: 'Ada', port: proxy.port });
  const code = await ada.create();
  await using robot = await openRobot(harness, code);
  await ada.see('.tile >> nth=1');
  proxy.cut();
  await ada.say('Can anybody hear me?');
  await ada.read('The server does not answer. Check your network, then try again.');
  expect(await ada.page.locator('#chat-text').inputValue()).toBe('Can anybody hear me?');
  proxy.heal();
  await ada.read('Connected again.');
  await ada.page.locator('#chat-text').press('Enter');
  await expect.poll(() => robot.heard).toEqual([expect.objectContaining({ text: 'Can anybody hear me?' })]);
});

test('a flood of messages freezes no page, and blank messages are ignored', async () => {
  await using harness = await openHarness();
  const [ada, bob] = await pair(harness, CHANNEL);
  await bob.say('marker');
  await ada.tells('marker');
  await bob.page.evaluate("for (let n = 0; n < 5000; n += 1) sayAgain('flood ' + n)");
  await ada.tells('Bob writes faster than anyone can read. Some of it is left out.');
  const told = await ada.told();
  expect(told.filter((line) => line.includes('left out'))).toHaveLength(1);
  expect((await lines(ada)).length).toBeLessThan(200);
  // A second later they can be heard again.
  await expect
    .poll(
      async () => {
        await bob.page.evaluate('sayAgain("  "); sayAgain("calm again")');
        return (await lines(ada)).includes('Bobcalm again');
      },
      { timeout: 30_000, interval: 500 },
    )
    .toBe(true);
  expect((await lines(ada)).filter((line) => line.trim() === 'Bob')).toEqual([]);
});

/** Says something in the way of the last message, without asking the page. */
const CHANNEL = `
  const { send } = RTCDataChannel.prototype;
  RTCDataChannel.prototype.send = function (data) {
    if (typeof data === 'string' && data.includes('marker')) {
      globalThis.sayAgain = (words) =>
        send.call(this, data.replace('marker', words).replace(/"id":"[^"]*"/, () => '"id":"' + Math.random() + '"'));
    }
    return send.call(this, data);
  };`;

async function pair(harness: Harness, script = ''): Promise<[Caller, Caller, string]> {
  const ada = await harness.caller({ name: 'Ada' });
  const bob = await harness.caller({ name: 'Bob', script });
  const code = await ada.create();
  await bob.type(code);
  await bob.join();
  await Promise.all([canSend(ada), canSend(bob)]);
  return [ada, bob, code];
}

const canSend = (caller: Caller): Promise<void> =>
  caller.until((peers) => peers.every((peer) => peer.canSend), 'the data channel');

/** What people have said, without what has happened. */
const lines = (caller: Caller): Promise<string[]> => caller.page.locator('.chat-line').allTextContents();

interface Robot extends AsyncDisposable {
  readonly heard: Json[];
  say(data: Json): Promise<void>;
}

/** A member that speaks to the server alone. */
async function openRobot(harness: Harness, code: string): Promise<Robot> {
  const client = connect(harness.server.url, { name: 'Robot', store: null });
  const room = await client.join(code);
  const heard: Json[] = [];
  room.on('message', ({ data }) => heard.push(data));
  return { heard, say: (data) => room.message(data), [Symbol.asyncDispose]: () => client.close() };
}
