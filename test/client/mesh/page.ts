/** Runs in the browser: the scenarios that `mesh.test.ts` calls by name. */

import { connectionsMade, counted, speedUpTimers } from './counters.ts';
import * as line from './data-channel.ts';
import { glare } from './glare.ts';
import * as media from './media.ts';
import { randomActions } from './random-actions.ts';
import * as life from './recovery.ts';
import * as losses from './signal-loss.ts';

const scenarios = {
  connectionsMade,
  counted,
  speedUpTimers,
  randomActions,
  glare,
  ...life,
  ...line,
  ...losses,
  ...media,
};
export type Scenarios = typeof scenarios;

Object.assign(globalThis, { scenarios });
