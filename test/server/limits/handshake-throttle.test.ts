/** The throttle of failed connections: free at first, then a wait that ends by itself. */
import { expect, test } from 'vitest';
import { HandshakeThrottle } from '../../../src/server/limits/handshake-throttle.ts';
import { manualClock } from '../../support/manual-clock.ts';

function throttled(faults: number) {
  const clock = manualClock();
  const throttle = new HandshakeThrottle(clock);
  const passed: string[] = [];
  const pass = (address: string) => throttle.pass(address, () => passed.push(address));
  for (let fault = 0; fault < faults; fault += 1) throttle.recordFault('a', 'ended');
  return { clock, throttle, passed, pass };
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
  expect([pass('a'), pass('b')]).toEqual([true, true]);
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
  const { clock, passed, pass } = throttled(1000);
  const accepted = Array.from({ length: 150 }, () => pass('a'));
  expect(accepted.filter(Boolean)).toHaveLength(100);
  clock.advance(1000);
  expect(passed).toHaveLength(100);
  expect(pass('a')).toBe(true);
});

test('failures are forgiven, all of them after ten seconds', () => {
  const { clock, throttle, passed, pass } = throttled(1000);
  clock.advance(11_000);
  for (let fault = 0; fault < 200; fault += 1) throttle.recordFault('a', 'ended');
  pass('a');
  expect(passed).toEqual(['a']);
});
