import { createMemoryEngine } from '../../src/engine/memory.ts';
import { testContract } from './contract.ts';

testContract('memory', async (settings, clock) => createMemoryEngine(settings, clock));
