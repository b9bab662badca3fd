/** The text of `data` in a request: what its sender has written, wherever it stands and however it is spelled. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonText, parseBody, parseEvent } from '../../../src/server/json/json-text.ts';
import { SPELLINGS } from './spellings.ts';

const textIn = (payload: unknown): unknown => {
  const data: unknown = Reflect.get(Object(payload), 'data');
  return data instanceof JsonText ? data.text : data;
};
const textOfEvent = (text: string) => textIn((parseEvent(text) as unknown[])[1]); // the texts below are arrays

describe('the text of data', () => {
  test.each(SPELLINGS)('stays %s', (data) => {
    for (const payload of [
      `{"to":"a","data":${data}}`,
      `{"data":${data},"to":"a"}`,
      ` { "x" : { "data" : [0] } , "data" :\n${data} , "y" : "\\"data\\":2" } `,
      `{"data":0,"d\\u0061ta":${data}}`,
      `{"d\\u0061ta":"x","data":${data}}`,
      `{"data\\u0000":1,"data":${data},"Data":2}`,
    ]) {
      expect(textIn(parseBody(payload))).toBe(data);
      expect(textOfEvent(`["signal",${payload}]`)).toBe(data);
      expect(textOfEvent(` [ "a \\",{\\"data\\":7}" , ${payload} , {"data":8} ] `)).toBe(data);
      expect(textOfEvent(`[7,${payload}]`)).toBe(data);
    }
  });

  test('is read for any JSON, of any layout', () => {
    const space = fc.constantFrom('', ' ', '\n\t', '\r\n  ');
    fc.assert(
      fc.property(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue()), space, (value, others, gap) => {
        const data = JSON.stringify(value, null, gap.length);
        const before = Object.entries(others).filter(([key]) => key !== 'data');
        const members = before.map(([key, inner]) => `${JSON.stringify(key)}${gap}:${JSON.stringify(inner)}`);
        const text = `{${gap}${[...members, `"data"${gap}:${gap}${data}`, ...members].join(`${gap},${gap}`)}${gap}}`;
        expect(textIn(parseBody(text))).toBe(data);
        expect(textOfEvent(`[${gap}"message"${gap},${gap}${text}${gap}]`)).toBe(data);
      }),
      { numRuns: 500 },
    );
  });

  test.each(['{}', '[]', 'null', '7', '"data"', '[{"data":1}]', '{"a":{"data":1}}'])(
    'is absent from %s, which stays what it is',
    (payload) => {
      expect(parseBody(payload)).toEqual(JSON.parse(payload));
      expect(parseEvent(`["x",${payload}]`)).toEqual(['x', JSON.parse(payload)]);
    },
  );

  test('is not found in text that is no JSON', () => {
    for (const text of ['{"data":1', '{"data":}', '{"data":1}}', '{"data":01}', '{"data":\u00a01}', '']) {
      expect(() => parseBody(text)).toThrow(SyntaxError);
      expect(() => parseEvent(text)).toThrow(SyntaxError);
    }
  });
});
