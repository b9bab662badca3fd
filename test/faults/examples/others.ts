/** Examples of laws about requests, records, processes and the end of a run. */
import type { MemorySample } from '../checker/run.ts';
import { CALL, type Example, end, entry, fault, welcomes } from './entries.ts';

/** Megabytes of one process, every ten seconds. */
const memoryOf = (megabytes: readonly number[]): MemorySample[] =>
  megabytes.map((it, index) => ({ at: index * 10_000, process: 'node-0 (1)', bytes: it * 2 ** 20 }));

export const OTHER_EXAMPLES: readonly Example[] = [
  {
    name: 'a request without an outcome',
    run: { clients: [welcomes[0] ?? end, entry('asked', { at: 1_000, name: 'room:get' }), end] },
    breaks: ['requests have an outcome after 5 s'],
  },
  {
    name: 'a request on a connection that ends',
    run: {
      clients: [
        welcomes[0] ?? end,
        entry('asked', { at: 1_000, name: 'room:get' }),
        entry('closed', { at: 2_000 }),
        end,
      ],
    },
  },
  {
    name: 'a request to a frozen node',
    run: {
      clients: [welcomes[0] ?? end, entry('asked', { at: 1_000, name: 'room:get' }), end],
      faults: [fault('freeze', 'node-0', 900, 59_000)],
    },
  },
  {
    name: 'a promise of the SDK that does not settle',
    run: { clients: [entry('called', { at: 1, name: 'profile' }), end] },
    breaks: ['requests have an outcome after 5 s'],
  },

  {
    name: 'a call with its record and its webhooks',
    run: {
      feed: CALL,
      webhooks: CALL.map(({ id }) => id),
      calls: [{ ref: 'R1', ended: true, complete: true, seats: [{ userId: 'ann', reason: 'left' }] }],
    },
  },
  {
    name: 'a seat of a record that has not ended',
    run: {
      feed: CALL,
      webhooks: CALL.map(({ id }) => id),
      calls: [{ ref: 'R1', ended: true, complete: true, seats: [{ userId: 'ann', reason: null }] }],
    },
    breaks: ['call records balance with the feed'],
  },
  {
    name: 'an event that no webhook told',
    run: { feed: CALL.slice(0, 2), webhooks: ['R1:0'] },
    breaks: ['webhooks balance with the feed'],
  },
  {
    name: 'a webhook of an event that is not in the feed',
    run: { feed: CALL.slice(0, 1), webhooks: ['R1:0', 'R1:1'] },
    breaks: ['webhooks balance with the feed'],
  },
  {
    name: 'a process that ends by itself',
    run: { exits: [{ at: 1, process: 'node-0', how: 'by itself (1)', expected: false }] },
    breaks: ['no process ends by itself'],
  },
  {
    name: 'a process that fills its heap and then stays',
    run: { memory: memoryOf([100, 180, 220, 221]) },
  },
  {
    name: 'a process that grows for ever',
    run: { memory: memoryOf([100, 150, 200, 250]) },
    breaks: ['memory does not grow for ever'],
  },
  {
    name: 'codes that are not freed',
    run: { quiet: { lastClientAt: 1, emptyAt: null, freeAt: null, strayKeys: [] } },
    breaks: ['everything is free in the end'],
  },
  {
    name: 'keys that are left behind',
    run: { quiet: { lastClientAt: 1, emptyAt: 2, freeAt: 3, strayKeys: ['sb:{s01}:room:100001'] } },
    breaks: ['everything is free in the end'],
  },
];
