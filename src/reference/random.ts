/**
 * Random references: `ROM` + the year + 24 random digits. They are unique by probability only: after a billion rooms, the
 * chance that any two are equal is one in two million.
 */
import type { Clock } from '../support/clock.ts';
import type { Random } from '../support/random.ts';
import { ITEM_TYPES, itemTypeOf } from './item-types.ts';
import type { ReferenceGenerator } from './port.ts';
import { yearOf } from './range.ts';

const DIGITS_PER_DRAW = 12;

export function createRandomReferences(clock: Clock, random: Random): ReferenceGenerator {
  const digits = () => String(random.integer(10 ** DIGITS_PER_DRAW)).padStart(DIGITS_PER_DRAW, '0');
  return {
    description: 'random',
    generate: async (itemType) =>
      `${itemTypeOf(ITEM_TYPES, itemType).prefix}${yearOf(clock.now())}${digits()}${digits()}`,
    record: () => {},
    close: async () => {},
  };
}
