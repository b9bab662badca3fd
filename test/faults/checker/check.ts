/** All laws of a run. */
import { listsEqualTruth } from './lists-equal-truth.ts';
import { memoryIsSteady } from './memory-is-steady.ts';
import { noLeftAfterResume } from './no-left-after-resume.ts';
import { noUnexpectedExit } from './no-unexpected-exit.ts';
import { oneLeftPerMembership } from './one-left-per-membership.ts';
import { oneRefPerCode } from './one-ref-per-code.ts';
import { poolConserved } from './pool-conserved.ts';
import { quietAtEnd } from './quiet-at-end.ts';
import { recordsBalance } from './records-balance.ts';
import { refsIssuedOnce } from './refs-issued-once.ts';
import { requestsAnswered } from './requests-answered.ts';
import { revisionsInOrder } from './revisions-in-order.ts';
import type { Law, Run, Violation } from './run.ts';
import { seatsAreShown } from './seats-are-shown.ts';
import { signalsDelivered } from './signals-delivered.ts';
import { signalsInOrder } from './signals-in-order.ts';
import { signalsNotStale } from './signals-not-stale.ts';
import { signalsStayInRoom } from './signals-stay-in-room.ts';
import { webhooksBalance } from './webhooks-balance.ts';

export const LAWS = {
  'no code leads to two live rooms': oneRefPerCode,
  'no ref is issued twice': refsIssuedOnce,
  'the pool is conserved': poolConserved,
  'nobody who is there is told to have left': noLeftAfterResume,
  'a membership ends once': oneLeftPerMembership,
  'a gap of revisions is followed by a snapshot, and none runs backwards': revisionsInOrder,
  'signals of a pair come once and in order': signalsInOrder,
  'acknowledged signals are received': signalsDelivered,
  'signals stay in their room': signalsStayInRoom,
  'no signal is delivered late': signalsNotStale,
  'requests have an outcome after 5 s': requestsAnswered,
  'member lists equal the truth': listsEqualTruth,
  'no client has a seat that it does not show': seatsAreShown,
  'call records balance with the feed': recordsBalance,
  'webhooks balance with the feed': webhooksBalance,
  'no process ends by itself': noUnexpectedExit,
  'memory does not grow for ever': memoryIsSteady,
  'everything is free in the end': quietAtEnd,
} as const satisfies Readonly<Record<string, Law>>;

export type LawName = keyof typeof LAWS;

/** By time. */
export function check(run: Run): Violation[] {
  return Object.entries(LAWS)
    .flatMap(([law, found]) => found(run).map((violation) => ({ law, ...violation })))
    .toSorted((a, b) => a.at - b.at);
}
