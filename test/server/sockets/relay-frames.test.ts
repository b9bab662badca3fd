/** The reader and the writer of the fast relay path. */
import { describe, expect, it } from 'vitest';
import { readRawSignal } from '../../../src/server/sockets/fast-relay.ts';
import { frameOf } from '../../../src/server/sockets/websocket-frame.ts';

const string = (length: number) => 'x'.repeat(length);

describe('the text of a signal', () => {
  it.each([
    '2["signal",{"to":"a","data":1,"data":2}]',
    '2["signal",{"to":"a","data":1},"more",{"x":1}]',
    '2["signal",{"to":"a","data":1,"to":"b"}]',
    '2["signal",{"to":"a","data":}]',
    '2["signal",{"to":"a","data":{"x":1}]',
    '2["signal",{"to":"a","data":1}] ',
    '2/other,["signal",{"to":"a","data":1}]',
    '21234567890123456["signal",{"to":"a","data":1}]',
    '2["message",{"to":"a","data":1}]',
  ])('is not read out of %s', (frame) => {
    expect(readRawSignal(frame)).toBeUndefined();
  });

  it('is what was sent, to the letter', () => {
    const read = readRawSignal('27["signal",{"to":"a_-9","data":{ "x": [1.0, 1e2] }}]');
    expect(read?.id).toBe('7');
    expect(read?.signal.data.text).toBe('{ "x": [1.0, 1e2] }');
    expect(read?.signal.to).toBe('a_-9');
    expect(Object.keys(read?.signal ?? {})).toEqual(['to', 'data']);
  });
});

describe('a frame', () => {
  it.each([0, 1, 124, 125, 126, 65_533, 65_534])('of %i characters says how long it is', (length) => {
    const frame = frameOf(string(length));
    const short = length + 1 < 126;
    expect(frame?.length).toBe(length + 1 + (short ? 2 : 4));
    expect(frame?.[0]).toBe(0x81);
    expect(short ? frame?.[1] : frame?.readUInt16BE(2)).toBe(length + 1);
    expect(frame?.subarray(short ? 2 : 4).toString()).toBe(`4${string(length)}`);
  });

  it('counts bytes, not characters', () => {
    expect(frameOf('é\u{1f600}')?.toString('hex')).toBe('810734c3a9f09f9880');
  });

  it('is left to the WebSocket when it is long', () => {
    expect(frameOf(string(65_535))).toBeUndefined();
    expect(frameOf('é'.repeat(32_768))).toBeUndefined();
  });
});
