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
  ['x;=1+1;y', `"x;'=1+1;y"`],
  ['x,=1+1', `"x,'=1+1"`],
  ['x\t=1+1', `"x\t'=1+1"`],
  ['x|@A1', `"x|'@A1"`],
  ['x\r\n=1+1', `"x\r\n'=1+1"`],
  ['x;;-1;  +1', `"x;;'-1;'  +1"`],
  ['x;"=1+1"', `"x;'""=1+1"""`],
  ['x;＝1+1;－2;＠a;＋3', `"x;'＝1+1;'－2;'＠a;'＋3"`],
  ['  =1+1', `'  =1+1`],
  ['\u200b\ufeff=1+1', `'\u200b\ufeff=1+1`],
  ['\t=1+1', `"'\t'=1+1"`],
  ['|calc', `"'|calc"`],
  ['%0A', "'%0A"],
  ['％0A', "'％0A"],
  ['a=b', 'a=b'],
  ['Anna-Maria + Ben @ home, 100 %', '"Anna-Maria + Ben @ home, 100 %"'],
])('a spreadsheet evaluates no formula in user input: %s', (name, cell) => {
  expect(csvLineOf({ ...CALL, name })).toContain(`,call,${cell},2026`);
});

test.each([';', ',', '\t', '|', /\r?\n/])(
  'no column of text begins a cell with a formula when the separator is %s',
  (separator) => {
    const name = 'x;=1+1,=2\t=3|=4\r\n=5;\u00a0"=6';
    const line = csvLineOf({ ...CALL, name, type: name, reason: name, hostId: name, createdBy: name });
    const cells = line.split(separator).map((cell) => cell.replace(/^[\s"]+/, ''));
    expect(cells.filter((cell) => /^[=+\-@]/.test(cell))).toEqual([]);
  },
);
