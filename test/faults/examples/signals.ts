/** Examples of laws about signals. */
import { type Example, end, entry, fault, heard, sent, signal, welcomes } from './entries.ts';

const ben = { client: 'a-ben', userId: 'ben' };
const sending = sent.slice(welcomes.length);
const asked = [...welcomes, entry('called', { at: 4_000, ...ben, name: 'join' })];

export const SIGNAL_EXAMPLES: readonly Example[] = [
  { name: 'a signal that is received', run: { clients: [...sent, heard(10_020), end] } },
  {
    name: 'a signal that is received twice',
    run: { clients: [...sent, heard(10_020), heard(10_030), end] },
    breaks: ['signals of a pair come once and in order'],
  },
  {
    name: 'a signal that comes after a later one',
    run: { clients: [...sent, heard(10_020, { n: 2 }), heard(10_030), end] },
    breaks: ['signals of a pair come once and in order'],
  },
  {
    name: 'a signal for somebody else',
    run: { clients: [...sent, heard(10_020), heard(10_030, { to: 'eve' }), end] },
    breaks: ['signals stay in their room'],
  },
  {
    name: 'a signal of another room',
    run: { clients: [...sent, heard(10_020, {}, 'R2'), end] },
    breaks: ['signals stay in their room'],
  },
  {
    name: 'an acknowledged signal that is lost',
    run: { clients: [...sent, end] },
    breaks: ['acknowledged signals are received'],
  },
  {
    name: 'an acknowledged signal lost while its receiver’s node is killed',
    run: { clients: [...sent, end], faults: [fault('kill', 'node-1', 10_500, 11_000)] },
  },
  {
    name: 'an acknowledged signal lost while another node is killed',
    run: { clients: [...sent, end], faults: [fault('kill', 'node-2', 10_500, 11_000)] },
    breaks: ['acknowledged signals are received'],
  },
  {
    name: 'an acknowledged signal lost while a node drains',
    run: { clients: [...sent, end], faults: [fault('terminate', 'node-1', 10_000, 11_000)] },
    breaks: ['acknowledged signals are received'],
  },
  {
    name: 'an acknowledged signal lost with the connection of its receiver',
    run: { clients: [...sent, entry('closed', { at: 10_015, client: 'a-ben', connection: 2 }), end] },
  },
  {
    name: 'an acknowledged signal lost with a connection that a drain has ended',
    run: {
      clients: [...sent, entry('closed', { at: 10_015, client: 'a-ben', connection: 2 }), end],
      faults: [fault('terminate', 'node-1', 10_000, 11_000)],
    },
    breaks: ['acknowledged signals are received'],
  },
  {
    name: 'an acknowledged signal lost after its receiver has had no answer to a join',
    run: {
      clients: [...asked, entry('settled', { at: 9_000, ...ben, name: 'join', error: 'TIMEOUT' }), ...sending, end],
    },
  },
  {
    name: 'an acknowledged signal lost after its receiver was refused another room',
    run: {
      clients: [...asked, entry('settled', { at: 4_100, ...ben, name: 'join', error: 'ROOM_FULL' }), ...sending, end],
    },
    breaks: ['acknowledged signals are received'],
  },
  {
    name: 'an acknowledged signal lost when its receiver leaves',
    run: {
      clients: [
        ...sent,
        entry('ended', { at: 10_015, client: 'a-ben', ref: 'R1', reason: 'left' }),
        entry('settled', { at: 10_016, client: 'a-ben', call: 9, name: 'leave' }),
        end,
      ],
    },
  },
  {
    name: 'a signal that is delivered long after its refusal',
    run: {
      clients: [
        ...welcomes,
        entry('called', { at: 10_000, name: 'signal', signal }),
        entry('settled', { at: 11_500, name: 'signal', error: 'STORE_UNAVAILABLE' }),
        heard(18_000),
      ],
    },
    breaks: ['no signal is delivered late'],
  },
];
