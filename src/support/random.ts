/** Randomness as an argument: the operating system's, or a test's sequence. */
import { randomBytes, randomInt } from 'node:crypto';
import { type Chance, systemChance } from './chance.ts';

export interface Random extends Chance {
  /** A whole number from 0 to `below` - 1, each as likely. */
  integer(below: number): number;
  /** Text of `bytes` random bytes in the alphabet `A-Z a-z 0-9 - _`. */
  text(bytes: number): string;
}

export const systemRandom: Random = {
  ...systemChance,
  integer: (below) => randomInt(below),
  text: (bytes) => randomBytes(bytes).toString('base64url'),
};
