/** Runs in the browser: what `mesh.test.ts` asks for by name. */

import { connectionsMade, counted, hurry } from './counters.ts';
import * as line from './data-channel.ts';
import { glare } from './glare.ts';
import * as media from './media.ts';
import { randomActions } from './random-actions.ts';
import * as life from './recovery.ts';
import * as losses from './signal-loss.ts';

const scenarios = { connectionsMade, counted, hurry, randomActions, glare, ...life, ...line, ...losses, ...media };
export type Scenarios = typeof scenarios;

Object.assign(globalThis, { scenarios });
