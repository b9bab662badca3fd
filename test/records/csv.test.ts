import { expect, test } from 'vitest';
import { CSV_HEADER, csvLineOf } from '../../src/records/csv.ts';
import type { Call } from '../../src/records/port.ts';

const CALL: Call = {
  ref: 'ROM202600000042',
  code: '493817',
  type: 'call',
  name: 'Stand-up',
  createdAt: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  endedAt: Date.UTC(2026, 0, 2, 3, 5, 5, 6),
  reason: 'closed',
  hostId: 'anna',
  createdBy: null,
  peakMembers: 3,
  totalMembers: 4,
  signals: 99,
  complete: true,
  participants: [],
};

test('a CSV has one line per call', () => {
  expect(CSV_HEADER).toBe(
    'ref,code,type,name,created,ended,seconds,reason,host,created_by,peak_members,total_members,sessions,signals,complete\r\n',
  );
  expect(csvLineOf(CALL)).toBe(
    'ROM202600000042,493817,call,Stand-up,2026-01-02T03:04:05.006Z,2026-01-02T03:05:05.006Z,60,closed,anna,,3,4,0,99,true\r\n',
  );
  expect(csvLineOf({ ...CALL, endedAt: null, reason: null })).toContain('2026-01-02T03:04:05.006Z,,,,anna');
});

test.each([
  ['a, "b"', '"a, ""b"""'],
  ['=1+1', "'=1+1"],
  ['+49', "'+49"],
  ['-cmd', "'-cmd"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['＝1+1', "'＝1+1"],
  ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
  ['a=b', 'a=b'],
])('a spreadsheet evaluates no formula in user input: %s', (name, cell) => {
  expect(csvLineOf({ ...CALL, name })).toContain(`,call,${cell},2026`);
});
