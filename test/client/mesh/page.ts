/** Runs in the browser: what `mesh.test.ts` asks for by name. */
import { chaos } from './chaos.ts';
import { connectionsMade, counted, hurry } from './counters.ts';
import { glare } from './glare.ts';
import * as life from './life.ts';
import * as line from './line.ts';
import * as losses from './losses.ts';
import * as media from './media.ts';

const scenarios = { connectionsMade, counted, hurry, chaos, glare, ...life, ...line, ...losses, ...media };
export type Scenarios = typeof scenarios;

Object.assign(globalThis, { scenarios });
