import { createMemoryEngine } from '../../src/engine/memory.ts';
import { keepsTheContract } from './contract.ts';

keepsTheContract('memory', async (settings, clock) => createMemoryEngine(settings, clock));
