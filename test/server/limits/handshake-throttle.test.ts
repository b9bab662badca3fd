/** The throttle of failed connections: free at first, then a wait that ends by itself. */
import { expect, test } from 'vitest';
import { HandshakeThrottle } from '../../../src/server/limits/handshake-throttle.ts';
import { systemRandom } from '../../../src/support/random.ts';
import { manualClock } from '../../support/manual-clock.ts';

function throttled(faults: number) {
  const clock = manualClock();
  const throttle = new HandshakeThrottle(clock, systemRandom);
  const passed: string[] = [];
  const refused: string[] = [];
  const pass = (address: string, name = address, isOfSession = false) =>
    throttle.pass(address, { isOfSession, go: () => passed.push(name), refuse: () => refused.push(name) });
  for (let fault = 0; fault < faults; fault += 1) throttle.recordFault('a', 'ended');
  return { clock, throttle, passed, refused, pass };
}

test('two hundred failures are free', () => {
  const { passed, pass } = throttled(200);
  expect(pass('a')).toBe(true);
  expect(passed).toEqual(['a']);
});

test('a flood counts as ten failures', () => {
  const { throttle, clock, passed, pass } = throttled(190);
  throttle.recordFault('a', 'flooded');
  pass('a');
  throttle.recordFault('a', 'flooded');
  pass('a');
  expect(passed).toEqual(['a']);
  clock.advance(500);
  expect(passed).toEqual(['a', 'a']);
});

test('handshakes after further failures wait, those of other addresses do not', () => {
  const { clock, passed, pass } = throttled(202);
  expect([pass('a'), pass('b')]).toEqual([false, true]);
  expect(passed).toEqual(['b']);
  clock.advance(99);
  expect(passed).toEqual(['b']);
  clock.advance(1);
  expect(passed).toEqual(['b', 'a']);
});

test('no wait is longer than a second, however many failures there were', () => {
  const { clock, passed, pass } = throttled(100_000);
  pass('a');
  clock.advance(1000);
  expect(passed).toEqual(['a']);
});

test('a hundred handshakes of an address wait at most, the others are refused', () => {
  const { clock, passed, refused, pass } = throttled(1000);
  for (let asked = 0; asked < 150; asked += 1) pass('a');
  expect(refused).toHaveLength(50);
  clock.advance(1000);
  expect(passed).toHaveLength(100);
  expect(pass('a')).toBe(true);
});

test('who keeps the queue of an address full does not keep its other clients out', () => {
  const { clock, throttle, passed, pass } = throttled(1000);
  let honest = 0;
  for (let second = 0; second < 100; second += 1) {
    for (let asked = 0; asked < 100; asked += 1) pass('a', 'attacker');
    pass('a', 'honest');
    for (let asked = 0; asked < 100; asked += 1) pass('a', 'attacker');
    throttle.recordFault('a', 'flooded');
    clock.advance(1000);
    throttle.recordFault('a', 'flooded');
    for (let fault = 0; fault < 20; fault += 1) throttle.recordFault('a', 'ended');
    honest = passed.filter((name) => name === 'honest').length;
  }
  // By chance about half of them: fewer than twenty of a hundred have a probability of 1 to a billion.
  expect(honest).toBeGreaterThan(20);
});

test('a handshake of a session is not refused while strangers wait', () => {
  const { clock, passed, refused, pass } = throttled(1000);
  for (let asked = 0; asked < 50; asked += 1) pass('a', 'session', true);
  for (let asked = 0; asked < 500; asked += 1) pass('a', 'stranger');
  clock.advance(1000);
  expect(refused).not.toContain('session');
  expect(passed.filter((name) => name === 'session')).toHaveLength(50);
});

test('sessions alone are no more than a hundred either', () => {
  const { refused, pass } = throttled(1000);
  for (let asked = 0; asked < 150; asked += 1) pass('a', 'session', true);
  expect(refused).toHaveLength(50);
});

test('those that wait are refused at the close, and no timer is left', () => {
  const { clock, throttle, passed, refused, pass } = throttled(1000);
  pass('a');
  throttle.close();
  clock.advance(10_000);
  expect([passed, refused]).toEqual([[], ['a']]);
});

test('faults are not forgiven by fifty thousand other addresses', () => {
  const { throttle, pass } = throttled(1000);
  for (let other = 0; other < 50_001; other += 1) throttle.recordFault(`other ${other}`, 'ended');
  expect(pass('a')).toBe(false);
});

test('failures are forgiven, all of them after ten seconds', () => {
  const { clock, throttle, passed, pass } = throttled(1000);
  clock.advance(11_000);
  for (let fault = 0; fault < 200; fault += 1) throttle.recordFault('a', 'ended');
  pass('a');
  expect(passed).toEqual(['a']);
});
