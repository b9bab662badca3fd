#!/usr/bin/env node
/**
 * The entry of the command line. Signals have a listener before anything else is loaded: the kernel ignores them for the first
 * process of a container as long as it has none, and the container would end only after its grace time, by SIGKILL.
 */
import { endAtOnceOnSignals } from './early-signals.ts';

endAtOnceOnSignals();
const { runProgram } = await import('./program.ts');
await runProgram();
