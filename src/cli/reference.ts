/** `signalbox reference <type>`: issues new references and prints them. */

import { referencesFromOptions } from '../reference/from-options.ts';
import { MAX_AT_ONCE } from '../reference/generator.ts';
import { ItemTypeError } from '../reference/item-types.ts';
import { OptionError, type PartialOptions, readOptions } from '../server/options/options.ts';
import { withDataDir } from './data-dir.ts';
import { createCliLog } from './log.ts';

/** References per batch: those printed before a failure are valid. */
const BATCH = 10_000;

export async function printReferences(itemType: string, count: string, given: PartialOptions): Promise<void> {
  const total = readCount(count);
  const options = readOptions(withDataDir(given, createCliLog('warn')));
  // Errors alone: a store that does not work is told by the error that ends the command, and not by a warning as well.
  const log = createCliLog('error');
  // minBlock 1: numbers leased beyond the requested count would be lost.
  const references = referencesFromOptions(options, { log, outageMs: 0, minBlock: 1 });
  if (references === undefined) {
    throw new OptionError('--database-url', 'required: references are counted in a database that all nodes share');
  }
  try {
    for (let left = total; left > 0; left -= BATCH) {
      const some = await references.generateMany(itemType, Math.min(left, BATCH), { name: 'signalbox reference' });
      process.stdout.write(`${some.join('\n')}\n`);
    }
  } catch (error) {
    throw error instanceof ItemTypeError ? new OptionError('<type>', error.message) : error;
  } finally {
    await references.close();
  }
}

function readCount(text: string): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MAX_AT_ONCE) return count;
  throw new OptionError('--count', `must be a whole number from 1 to ${MAX_AT_ONCE}`);
}
